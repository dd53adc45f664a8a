// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.DoubleBuffer;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** The loops of {@code double[]} accumulators. */
final class DoubleLanes extends Lanes<double[]> {
  private static final int BLOCK = BLOCK_BYTES / Double.BYTES;
  private static final double NAN = Double.longBitsToDouble(0x7ff8000000000000L);

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  double[] newBlock() {
    return new double[BLOCK];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asDoubleBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, double[] block) {
    ((DoubleBuffer) port).get(from, block, 0, n);
  }

  @Override
  void store(double[] from, int offset, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(from, offset, heap.array(), heap.offset() + at, n);
    } else {
      ((DoubleBuffer) port).put(at, from, offset, n);
    }
  }

  @Override
  void join2(ReduceOp op, double[] d, int o, double[] a, int ao, double[] b, int bo, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(d, o, a, ao, b, bo, n);
      case MIN -> min2(d, o, a, ao, b, bo, n);
      case MAX -> max2(d, o, a, ao, b, bo, n);
    }
  }

  private static void sum2(double[] d, int o, double[] a, int ao, double[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = a[ao + j] + b[bo + j];
    }
  }

  private static void min2(double[] d, int o, double[] a, int ao, double[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = Math.min(a[ao + j], b[bo + j]);
    }
  }

  private static void max2(double[] d, int o, double[] a, int ao, double[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = Math.max(a[ao + j], b[bo + j]);
    }
  }

  @Override
  void sum3(double[] d, int o, double[] a, int ao, double[] b, int bo, double[] c, int co, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = (a[ao + j] + b[bo + j]) + c[co + j];
    }
  }

  @Override
  void sum4(
      double[] d,
      int o,
      double[] a,
      int ao,
      double[] b,
      int bo,
      double[] c,
      int co,
      double[] e,
      int eo,
      int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = ((a[ao + j] + b[bo + j]) + c[co + j]) + e[eo + j];
    }
  }

  @Override
  void tree4(
      double[] d,
      int o,
      double[] a,
      int ao,
      double[] b,
      int bo,
      double[] c,
      int co,
      double[] e,
      int eo,
      int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = (a[ao + j] + b[bo + j]) + (c[co + j] + e[eo + j]);
    }
  }

  @Override
  void scale(double[] d, int o, int n, int world) {
    double factor = 1.0 / world;
    for (int j = 0; j < n; j++) {
      d[o + j] *= factor;
    }
  }

  @Override
  void canonicalise(double[] d, int o, int n, double[] spare) {
    if (mayHaveNaN(d, o, n, spare)) {
      for (int j = o; j < o + n; j++) {
        if (Double.isNaN(d[j])) {
          d[j] = NAN;
        }
      }
    }
  }

  /**
   * Whether the sum of all elements is a NaN: always when one of them is, now and then when
   * infinities meet. Halves the block again and again, since HotSpot makes vectors of that but not
   * of a sum in order.
   */
  private static boolean mayHaveNaN(double[] d, int o, int n, double[] spare) {
    double sum = 0;
    int left = n / 4;
    quarter(spare, d, o, left);
    for (int j = o + 4 * left; j < o + n; j++) {
      sum += d[j];
    }
    while (left >= 32) {
      for (int j = left & ~3; j < left; j++) {
        sum += spare[j];
      }
      left /= 4;
      quarter(spare, spare, 0, left);
    }
    for (int j = 0; j < left; j++) {
      sum += spare[j];
    }
    return Double.isNaN(sum);
  }

  private static void quarter(double[] spare, double[] d, int o, int q) {
    int p = o + q;
    int r = p + q;
    int s = r + q;
    for (int j = 0; j < q; j++) {
      spare[j] = (d[o + j] + d[p + j]) + (d[r + j] + d[s + j]);
    }
  }

  @Override
  boolean isOrderSensitive() {
    return true;
  }
}
