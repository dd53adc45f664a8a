// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bench;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.view.View;

/**
 * Times the all-reduce of floats between the threads of this JVM as a training step meets it: every
 * rank rewrites its input before each call and reads the result after it, both inside the timed
 * stretch. The same protocol as benchmarks/peers/allreduce.c, and the same output.
 *
 * <p>Arguments: tasks, {@code heap} or {@code direct}, then sizes in bytes. Prints "bytes us" a
 * line, the median of three batches' means on the slowest rank.
 */
public final class AllReduceTimes {
  private static final long BATCH_BYTES = 256L << 20;
  private static final long WARM_NS = 1_000_000_000L;

  /** What two compilers need on two cores that the ranks keep busy. */
  private static final int FIRST_WARM_ROUNDS = 4;

  private static volatile float sink;

  private AllReduceTimes() {}

  /**
   * Runs the benchmark.
   *
   * @param args as the class says
   */
  public static void main(String[] args) {
    int tasks = Integer.parseInt(args[0]);
    boolean direct = args[1].equals("direct");
    long[] sizes = Arrays.stream(args, 2, args.length).mapToLong(Long::parseLong).toArray();
    LoopbackGroup.run(
        tasks,
        communicator -> {
          time(communicator, direct, sizes);
          return null;
        });
  }

  /**
   * Times every size; task 0 prints. Before that all sizes below 1 MiB, or else the first, are
   * timed in turn and forgotten, while code is compiled.
   */
  static void time(Communicator communicator, boolean direct, long[] sizes) {
    for (int round = 0; round < FIRST_WARM_ROUNDS; round++) {
      for (long bytes : sizes) {
        if (bytes == sizes[0] || bytes < 1 << 20) {
          int n = Math.toIntExact(bytes / Float.BYTES);
          sink = (float) (direct ? overArenas(communicator, n) : overArrays(communicator, n));
        }
      }
    }
    for (long bytes : sizes) {
      int n = Math.toIntExact(bytes / Float.BYTES);
      double us = direct ? overArenas(communicator, n) : overArrays(communicator, n);
      double[] slowest = {us};
      communicator.allReduce(
          ReduceOp.MAX, FoldOrder.RANK_LEFT, List.of(View.of(slowest)), View.of(slowest));
      if (communicator.info().task() == 0) {
        System.out.printf(Locale.ROOT, "%d %.2f%n", bytes, slowest[0]);
      }
    }
  }

  private static double overArrays(Communicator communicator, int n) {
    float[] in = new float[n];
    float[] out = new float[n];
    List<View> addends = List.of(View.of(in));
    View result = View.of(out);
    return meanUs(
        communicator,
        n,
        call -> {
          Arrays.fill(in, call);
          communicator.allReduce(addends, result);
          sink = readAll(out);
        });
  }

  private static double overArenas(Communicator communicator, int n) {
    try (var in = communicator.allocate(DType.F32, n);
        var out = communicator.allocate(DType.F32, n)) {
      List<View> addends = List.of(in.view());
      View result = out.view();
      var input = in.floats();
      var output = out.floats();
      float[] line = new float[1024];
      return meanUs(
          communicator,
          n,
          call -> {
            Arrays.fill(line, call);
            for (int i = 0; i < n; i += line.length) {
              input.put(i, line, 0, Math.min(line.length, n - i));
            }
            communicator.allReduce(addends, result);
            float sum = 0;
            for (int i = 0; i < n; i += 16) {
              sum += output.get(i);
            }
            sink = sum;
          });
    }
  }

  private interface Step {
    void run(int call);
  }

  /** The median of three batches, after the compiler has had its time. */
  private static double meanUs(Communicator communicator, int n, Step step) {
    int batch = (int) Math.min(2000, 1 + BATCH_BYTES / (n * 4L + 65536));
    long[] warm = {1};
    long warmFromNs = System.nanoTime();
    while (warm[0] != 0) {
      for (int call = 0; call < batch; call++) {
        step.run(call);
      }
      warm[0] = System.nanoTime() - warmFromNs < WARM_NS ? 1 : 0;
      communicator.allReduce(
          ReduceOp.MAX, FoldOrder.RANK_LEFT, List.of(View.of(warm)), View.of(warm));
    }
    double[] means = new double[3];
    for (int b = 0; b < means.length; b++) {
      communicator.barrier();
      long startNs = System.nanoTime();
      for (int call = 0; call < batch; call++) {
        step.run(call);
      }
      means[b] = (System.nanoTime() - startNs) / 1e3 / batch;
    }
    Arrays.sort(means);
    return means[1];
  }

  /** One float of every cache line: what it costs to have the result come to this core. */
  private static float readAll(float[] values) {
    float sum = 0;
    for (int i = 0; i < values.length; i += 16) {
      sum += values[i];
    }
    return sum;
  }
}
