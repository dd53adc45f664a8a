// SPDX-License-Identifier: Apache-2.0
// Times MPI_Allreduce of floats as a training step meets it: every rank rewrites its input before each call and reads
// the result after it, both inside the timed stretch. One argument a size in bytes; prints "bytes us" a line, the median
// of three batches' means on the slowest rank.
//
// With "bits" before the sizes it prints "bytes digest" a line instead: see bits.h.
//
//   mpicc -O3 -march=native -o allreduce allreduce.c -lm && mpirun -n 2 ./allreduce 65536 1048576
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"

static volatile float sink;

static void fill(float *x, long n, float v) {
  for (long i = 0; i < n; i++) x[i] = v;
}

// One float of every cache line: what it costs to have the result come to this core.
static float read_all(const float *x, long n) {
  float s = 0;
  for (long i = 0; i < n; i += 16) s += x[i];
  return s;
}

static double median(const double *m) {
  double low = m[0] < m[1] ? m[0] : m[1], high = m[0] < m[1] ? m[1] : m[0];
  return m[2] < low ? low : m[2] > high ? high : m[2];
}

static void calls(float *in, float *out, long n, int count) {
  for (int c = 0; c < count; c++) {
    fill(in, n, (float)c);
    MPI_Allreduce(in, out, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    sink = read_all(out, n);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int only_bits = argc > 1 && !strcmp(argv[1], "bits"), world;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  for (int a = 1 + only_bits; a < argc; a++) {
    long bytes = atol(argv[a]), n = bytes / 4;
    float *in = aligned_alloc(4096, bytes), *out = aligned_alloc(4096, bytes);
    if (only_bits) {
      fill_bits(in, n, world, rank);
      MPI_Allreduce(in, out, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      if (rank == 0) print_bits(bytes, out);
      free(in);
      free(out);
      continue;
    }
    fill(in, n, 1);
    fill(out, n, 1);
    long batch = 1 + (256L << 20) / (bytes + 65536);
    if (batch > 2000) batch = 2000;
    calls(in, out, n, (int)(batch / 4 + 2));
    double means[3];
    for (int b = 0; b < 3; b++) {
      MPI_Barrier(MPI_COMM_WORLD);
      double start = MPI_Wtime();
      calls(in, out, n, (int)batch);
      means[b] = (MPI_Wtime() - start) / batch * 1e6;
    }
    double mine = median(means), slowest;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%ld %.2f\n", bytes, slowest);
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
