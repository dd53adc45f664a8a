// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/** Sums of {@code double[]} from one index on. */
final class DoubleLevelLoops implements LevelLoops<double[]> {
  @Override
  public void sum(double[] d, Object[] operands, int count, int from, int to) {
    double[] a = (double[]) operands[0];
    double[] b = (double[]) operands[1];
    switch (count) {
      case 2 -> two(d, a, b, from, to);
      case 3 -> three(d, a, b, (double[]) operands[2], from, to);
      case 4 -> four(d, a, b, (double[]) operands[2], (double[]) operands[3], from, to);
      default ->
          five(
              d,
              a,
              b,
              (double[]) operands[2],
              (double[]) operands[3],
              (double[]) operands[4],
              from,
              to);
    }
  }

  private static void two(double[] d, double[] a, double[] b, int from, int to) {
    for (int j = from; j < to; j++) {
      d[j] = a[j] + b[j];
    }
  }

  private static void three(double[] d, double[] a, double[] b, double[] c, int from, int to) {
    for (int j = from; j < to; j++) {
      d[j] = (a[j] + b[j]) + c[j];
    }
  }

  private static void four(
      double[] d, double[] a, double[] b, double[] c, double[] e, int from, int to) {
    for (int j = from; j < to; j++) {
      d[j] = ((a[j] + b[j]) + c[j]) + e[j];
    }
  }

  private static void five(
      double[] d, double[] a, double[] b, double[] c, double[] e, double[] f, int from, int to) {
    for (int j = from; j < to; j++) {
      d[j] = (((a[j] + b[j]) + c[j]) + e[j]) + f[j];
    }
  }
}
