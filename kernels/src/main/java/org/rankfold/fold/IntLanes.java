// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.IntBuffer;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** The loops of {@code int[]} blocks. */
final class IntLanes extends Lanes<int[]> {
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
  int[] newArray(int length) {
    return new int[length];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asIntBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, int[] block) {
    if (port instanceof HeapView heap) {
      System.arraycopy((int[]) heap.array(), heap.offset() + from, block, 0, n);
    } else {
      ((IntBuffer) port).get(from, block, 0, n);
    }
  }

  @Override
  void store(int[] block, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(block, 0, (int[]) heap.array(), heap.offset() + at, n);
    } else {
      ((IntBuffer) port).put(at, block, 0, n);
    }
  }

  @Override
  void join2(ReduceOp op, int[] d, int[] w, int[] a, int[] b, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(d, a, b, n);
      case MIN -> min2(d, a, b, n);
      case MAX -> max2(d, a, b, n);
    }
  }

  private static void sum2(int[] d, int[] a, int[] b, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = a[j] + b[j];
    }
  }

  private static void min2(int[] d, int[] a, int[] b, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = Math.min(a[j], b[j]);
    }
  }

  private static void max2(int[] d, int[] a, int[] b, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = Math.max(a[j], b[j]);
    }
  }

  @Override
  void sum3(int[] d, int[] w, int[] a, int[] b, int[] c, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = (a[j] + b[j]) + c[j];
    }
  }

  @Override
  void sum4(int[] d, int[] w, int[] a, int[] b, int[] c, int[] e, int n) {
    for (int j = 0; j < n; j++) {
      d[j] = ((a[j] + b[j]) + c[j]) + e[j];
    }
  }

  @Override
  void tree4(int[] d, int[] w, int[] a, int[] b, int[] c, int[] e, int n) {
    sum4(d, w, a, b, c, e, n);
  }

  @Override
  void scale(int[] d, int n, int world) {
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
  void watch(int[] w, int[] d, int n) {}

  @Override
  boolean isAlarmed(int[] w) {
    return false;
  }

  @Override
  void canonicalise(int[] d, int n) {}
}
