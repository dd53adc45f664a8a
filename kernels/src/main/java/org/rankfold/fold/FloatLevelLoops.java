// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/** Sums of {@code float[]} from one index on. */
final class FloatLevelLoops implements LevelLoops<float[]> {
  @Override
  public void sum(float[] d, Object[] operands, int count, int from, int to) {
    float[] a = (float[]) operands[0];
    float[] b = (float[]) operands[1];
    switch (count) {
      case 2 -> two(d, a, b, from, to);
      case 3 -> three(d, a, b, (float[]) operands[2], from, to);
      case 4 -> four(d, a, b, (float[]) operands[2], (float[]) operands[3], from, to);
      default ->
          five(
              d,
              a,
              b,
              (float[]) operands[2],
              (float[]) operands[3],
              (float[]) operands[4],
              from,
              to);
    }
  }

  private static void two(float[] d, float[] a, float[] b, int from, int to) {
    for (int j = from; j < to; j++) {
      d[j] = a[j] + b[j];
    }
  }

  private static void three(float[] d, float[] a, float[] b, float[] c, int from, int to) {
    for (int j = from; j < to; j++) {
      d[j] = (a[j] + b[j]) + c[j];
    }
  }

  private static void four(
      float[] d, float[] a, float[] b, float[] c, float[] e, int from, int to) {
    for (int j = from; j < to; j++) {
      d[j] = ((a[j] + b[j]) + c[j]) + e[j];
    }
  }

  private static void five(
      float[] d, float[] a, float[] b, float[] c, float[] e, float[] f, int from, int to) {
    for (int j = from; j < to; j++) {
      d[j] = (((a[j] + b[j]) + c[j]) + e[j]) + f[j];
    }
  }
}
