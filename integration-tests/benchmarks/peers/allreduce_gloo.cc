// SPDX-License-Identifier: Apache-2.0
// Times Gloo's all-reduce of floats over TCP by the protocol of allreduce.c: every rank rewrites its input before each
// call and reads the result after it, both inside the timed stretch. Ranks meet in a folder. Rank 0 prints "bytes us" a
// line. Gloo has two algorithms; ALGORITHM is "ring" or "bcube". With "bits" before the sizes: see bits.h.
//
//   g++ -O3 -march=native -o allreduce_gloo allreduce_gloo.cc -lgloo
//   for r in 0 1; do ./allreduce_gloo FOLDER 2 $r ring 65536 1048576 & done; wait
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bits.h"

static volatile float sink;
static uint32_t tag = 1;

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static float read_all(const float *x, long n) {
  float s = 0;
  for (long i = 0; i < n; i += 16) s += x[i];
  return s;
}

static void reduce(const std::shared_ptr<gloo::Context> &context, float *in, float *out, long n, bool largest,
                   gloo::AllreduceOptions::Algorithm algorithm) {
  gloo::AllreduceOptions options(context);
  options.setInput(in, n);
  options.setOutput(out, n);
  options.setAlgorithm(algorithm);
  options.setTag(tag++);
  void (*sum)(void *, const void *, const void *, size_t) = &gloo::sum<float>;
  void (*max)(void *, const void *, const void *, size_t) = &gloo::max<float>;
  options.setReduceFunction(gloo::AllreduceOptions::Func(largest ? max : sum));
  gloo::allreduce(options);
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  int world = atoi(argv[2]), rank = atoi(argv[3]);
  auto algorithm = strcmp(argv[4], "bcube") ? gloo::AllreduceOptions::Algorithm::RING
                                            : gloo::AllreduceOptions::Algorithm::BCUBE;
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(argv[1]);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, world);
  context->connectFullMesh(store, device);
  bool only_bits = !strcmp(argv[5], "bits");
  for (int a = 5 + only_bits; a < argc; a++) {
    long bytes = atol(argv[a]), n = bytes / 4;
    float *in = static_cast<float *>(aligned_alloc(4096, bytes)), *out = static_cast<float *>(aligned_alloc(4096, bytes));
    if (only_bits) {
      fill_bits(in, n, world, rank);
      reduce(context, in, out, n, false, algorithm);
      if (rank == 0) print_bits(bytes, out);
      free(in);
      free(out);
      continue;
    }
    std::fill(in, in + n, 1.0f);
    std::fill(out, out + n, 1.0f);
    long batch = std::min(2000L, 1 + (256L << 20) / (bytes + 65536));
    auto calls = [&](long count) {
      for (long c = 0; c < count; c++) {
        std::fill(in, in + n, static_cast<float>(c));
        reduce(context, in, out, n, false, algorithm);
        sink = read_all(out, n);
      }
    };
    calls(batch / 4 + 2);
    double means[3];
    for (double &mean : means) {
      gloo::BarrierOptions barrier(context);
      barrier.setTag(tag++);
      gloo::barrier(barrier);
      double start = now_us();
      calls(batch);
      mean = (now_us() - start) / static_cast<double>(batch);
    }
    std::sort(means, means + 3);
    float mine = static_cast<float>(means[1]), slowest;
    reduce(context, &mine, &slowest, 1, true, gloo::AllreduceOptions::Algorithm::RING);
    if (rank == 0) printf("%ld %.2f\n", bytes, slowest);
    free(in);
    free(out);
  }
  return 0;
}
