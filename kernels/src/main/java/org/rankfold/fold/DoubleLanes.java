// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.DoubleBuffer;
import java.util.Arrays;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * The loops of {@code double[]} elements. A bench is one array: five slots, then what is watched.
 */
final class DoubleLanes extends Lanes<double[]> {
  private static final int BLOCK = 64;

  /** Where the sum of all results since the last look lies: one NaN makes it a NaN. */
  private static final int WATCH = SLOTS * BLOCK;

  private static final double NAN = Double.longBitsToDouble(0x7ff8000000000000L);

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  double[] newBench() {
    return new double[(SLOTS + 1) * BLOCK];
  }

  @Override
  Object newRow(int blocks) {
    return new double[blocks * BLOCK];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asDoubleBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, double[] s, int slot) {
    if (port instanceof HeapView heap) {
      System.arraycopy((double[]) heap.array(), heap.offset() + from, s, slot * BLOCK, n);
    } else {
      ((DoubleBuffer) port).get(from, s, slot * BLOCK, n);
    }
  }

  @Override
  void store(double[] s, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(s, 0, (double[]) heap.array(), heap.offset() + at, n);
    } else {
      ((DoubleBuffer) port).put(at, s, 0, n);
    }
  }

  @Override
  void keep(double[] s, Object row, int block) {
    System.arraycopy(s, 0, (double[]) row, block * BLOCK, BLOCK);
  }

  @Override
  void recall(Object row, int block, double[] s, int slot) {
    System.arraycopy((double[]) row, block * BLOCK, s, slot * BLOCK, BLOCK);
  }

  @Override
  void join2(ReduceOp op, double[] s, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(s, n);
      case MIN -> min2(s, n);
      case MAX -> max2(s, n);
    }
  }

  private static void sum2(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      double v = s[j] + s[j + BLOCK];
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  private static void min2(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      double v = Math.min(s[j], s[j + BLOCK]);
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  private static void max2(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      double v = Math.max(s[j], s[j + BLOCK]);
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  @Override
  void sum3(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      double v = (s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK];
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  @Override
  void sum4(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      double v = ((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK];
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  @Override
  void sum5(double[] s, int n) {
    add5(s, n);
    watch(s, n);
  }

  /** HotSpot 17 makes no vectors of this and the watching in one loop. */
  private static void add5(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = (((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK]) + s[j + 4 * BLOCK];
    }
  }

  @Override
  void tree4(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      double v = (s[j] + s[j + BLOCK]) + (s[j + 2 * BLOCK] + s[j + 3 * BLOCK]);
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  @Override
  void scale(double[] s, int n, int world) {
    multiply(s, 1.0 / world, n);
  }

  private static void multiply(double[] s, double factor, int n) {
    for (int j = 0; j < n; j++) {
      s[j] *= factor;
    }
  }

  @Override
  boolean isOrderSensitive() {
    return true;
  }

  @Override
  void watch(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j + WATCH] += s[j];
    }
  }

  @Override
  void watch4(double[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j + WATCH] += (s[j] + s[j + BLOCK]) + (s[j + 2 * BLOCK] + s[j + 3 * BLOCK]);
    }
  }

  @Override
  boolean isAlarmed(double[] s) {
    double even = 0;
    double odd = 0;
    for (int j = WATCH; j < WATCH + BLOCK; j += 2) {
      even += s[j];
      odd += s[j + 1];
    }
    Arrays.fill(s, WATCH, WATCH + BLOCK, 0);
    return Double.isNaN(even + odd);
  }

  @Override
  void canonicalise(double[] s, int n) {
    for (int j = 0; j < n; j++) {
      if (Double.isNaN(s[j])) {
        s[j] = NAN;
      }
    }
  }
}
