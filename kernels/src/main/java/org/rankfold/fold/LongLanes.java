// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.LongBuffer;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** The loops of {@code long[]} elements. A bench is one array: five slots. */
final class LongLanes extends Lanes<long[]> {
  private static final int BLOCK = 64;

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  long[] newBench() {
    return new long[SLOTS * BLOCK];
  }

  @Override
  Object newRow(int blocks) {
    return new long[blocks * BLOCK];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asLongBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, long[] s, int slot) {
    if (port instanceof HeapView heap) {
      System.arraycopy((long[]) heap.array(), heap.offset() + from, s, slot * BLOCK, n);
    } else {
      ((LongBuffer) port).get(from, s, slot * BLOCK, n);
    }
  }

  @Override
  void store(long[] s, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(s, 0, (long[]) heap.array(), heap.offset() + at, n);
    } else {
      ((LongBuffer) port).put(at, s, 0, n);
    }
  }

  @Override
  void keep(long[] s, Object row, int block) {
    System.arraycopy(s, 0, (long[]) row, block * BLOCK, BLOCK);
  }

  @Override
  void recall(Object row, int block, long[] s, int slot) {
    System.arraycopy((long[]) row, block * BLOCK, s, slot * BLOCK, BLOCK);
  }

  @Override
  void join2(ReduceOp op, long[] s, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(s, n);
      case MIN -> min2(s, n);
      case MAX -> max2(s, n);
    }
  }

  private static void sum2(long[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = s[j] + s[j + BLOCK];
    }
  }

  private static void min2(long[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = Math.min(s[j], s[j + BLOCK]);
    }
  }

  private static void max2(long[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = Math.max(s[j], s[j + BLOCK]);
    }
  }

  @Override
  void sum3(long[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = (s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK];
    }
  }

  @Override
  void sum4(long[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = ((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK];
    }
  }

  @Override
  void sum5(long[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = (((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK]) + s[j + 4 * BLOCK];
    }
  }

  @Override
  void tree4(long[] s, int n) {
    sum4(s, n);
  }

  @Override
  void scale(long[] s, int n, int world) {
    throw new UnsupportedOperationException("op=mean is not defined for integers");
  }

  @Override
  boolean isOrderSensitive() {
    return false;
  }

  @Override
  void watch(long[] s, int n) {}

  @Override
  void watch4(long[] s) {}

  @Override
  boolean isAlarmed(long[] s) {
    return false;
  }

  @Override
  void canonicalise(long[] s, int n) {}
}
