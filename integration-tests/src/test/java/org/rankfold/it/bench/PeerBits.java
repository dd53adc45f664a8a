// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bench;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.view.View;

/**
 * Inputs whose sum depends on the order of additions, and the digest of a result, as in {@code
 * benchmarks/peers/bits.h}: does an all-reduce keep its bits when ranks or sizes change? Eight
 * logical addends; a task of W has 8 / W of them, one after the other. What cannot host several
 * adds them in that order before it reduces.
 */
public final class PeerBits {
  private static final int ADDENDS = 8;
  private static final int DIGESTED = 1024;

  private PeerBits() {}

  /**
   * Prints the digests of this project's all-reduce between threads, "bytes digest" a line.
   *
   * @param args tasks, then sizes in bytes
   */
  public static void main(String[] args) {
    int tasks = Integer.parseInt(args[0]);
    for (String size : Arrays.copyOfRange(args, 1, args.length)) {
      int n = Math.toIntExact(Long.parseLong(size) / Float.BYTES);
      List<float[]> results =
          LoopbackGroup.of(ADDENDS, tasks)
              .run(
                  communicator -> {
                    int first = communicator.info().firstRank();
                    List<View> addends =
                        IntStream.range(first, first + communicator.info().rankCount())
                            .mapToObj(rank -> View.of(addend(n, rank)))
                            .toList();
                    float[] out = new float[n];
                    communicator.allReduce(addends, View.of(out));
                    return out;
                  });
      System.out.println(size + " " + digest(results.get(0)));
    }
  }

  private static float[] addend(int n, int rank) {
    float[] addend = new float[n];
    for (int i = 0; i < n; i++) {
      addend[i] = element(rank, i);
    }
    return addend;
  }

  /**
   * What a task brings that cannot host several addends.
   *
   * @param n elements
   * @param tasks a divisor of 8
   * @param task this task
   * @return the sum of the task's addends, added in ascending order
   */
  public static float[] partialSum(int n, int tasks, int task) {
    int hosted = ADDENDS / tasks;
    float[] sum = addend(n, task * hosted);
    for (int r = 1; r < hosted; r++) {
      float[] next = addend(n, task * hosted + r);
      for (int i = 0; i < n; i++) {
        sum[i] += next[i];
      }
    }
    return sum;
  }

  private static float element(long rank, long i) {
    long z = rank * 0x9E3779B97F4A7C15L + i * 0xD1B54A32D192ED03L + 1;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return Math.scalb((float) ((int) (z & 0xffffff) - 0x800000), (int) ((z >>> 32) % 24) - 35);
  }

  /**
   * FNV-1a of the first 1,024 elements' bits.
   *
   * @param values at least 1,024
   * @return 16 hex digits
   */
  public static String digest(float[] values) {
    long h = 0xcbf29ce484222325L;
    for (int i = 0; i < DIGESTED; i++) {
      int bits = Float.floatToRawIntBits(values[i]);
      for (int k = 0; k < Integer.SIZE; k += Byte.SIZE) {
        h = (h ^ (bits >>> k & 0xff)) * 0x100000001b3L;
      }
    }
    return String.format(Locale.ROOT, "%016x", h);
  }
}
