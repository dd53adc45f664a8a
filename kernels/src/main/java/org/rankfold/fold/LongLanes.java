// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.LongBuffer;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** The loops of {@code long[]} blocks. */
final class LongLanes extends Lanes<long[]> {
  /**
   * Small blocks: a core keeps many streams of memory busy only while it goes round them quickly
   * (measured: blocks of 4 KiB read at less than half the speed of 512 bytes).
   */
  private static final int BLOCK = 128;

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  long[] newArray(int length) {
    return new long[length];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asLongBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, long[] block) {
    if (port instanceof HeapView heap) {
      System.arraycopy((long[]) heap.array(), heap.offset() + from, block, 0, n);
    } else {
      ((LongBuffer) port).get(from, block, 0, n);
    }
  }

  @Override
  void store(long[] block, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(block, 0, (long[]) heap.array(), heap.offset() + at, n);
    } else {
      ((LongBuffer) port).put(at, block, 0, n);
    }
  }

  @Override
  void join2(ReduceOp op, long[] d, long[] w, long[] a, long[] b, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(d, a, b, n);
      case MIN -> min2(d, a, b, n);
      case MAX -> max2(d, a, b, n);
    }
  }

  private static void sum2(long[] d, long[] a, long[] b, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = a[j] + b[j];
    }
  }

  private static void min2(long[] d, long[] a, long[] b, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = Math.min(a[j], b[j]);
    }
  }

  private static void max2(long[] d, long[] a, long[] b, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = Math.max(a[j], b[j]);
    }
  }

  @Override
  void sum3(long[] d, long[] w, long[] a, long[] b, long[] c, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = (a[j] + b[j]) + c[j];
    }
  }

  @Override
  void sum4(long[] d, long[] w, long[] a, long[] b, long[] c, long[] e, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = ((a[j] + b[j]) + c[j]) + e[j];
    }
  }

  @Override
  void tree4(long[] d, long[] w, long[] a, long[] b, long[] c, long[] e, int n) {
    sum4(d, w, a, b, c, e, n);
  }

  @Override
  void scale(long[] d, int n, int world) {
    throw new UnsupportedOperationException("op=mean is not defined for integers");
  }

  @Override
  boolean isOrderSensitive() {
    return false;
  }

  @Override
  boolean isWatched() {
    return false;
  }

  @Override
  void watch(long[] w, long[] d, int n) {}

  @Override
  boolean isAlarmed(long[] w) {
    return false;
  }

  @Override
  void canonicalise(long[] d, int n) {}
}
