// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.IntBuffer;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** The loops of {@code int[]} elements. A bench is one array: five slots. */
final class IntLanes extends Lanes<int[]> {
  private static final int BLOCK = 128;

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  int[] newBench() {
    return new int[SLOTS * BLOCK];
  }

  @Override
  Object newRow(int blocks) {
    return new int[blocks * BLOCK];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asIntBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, int[] s, int slot) {
    if (port instanceof HeapView heap) {
      System.arraycopy((int[]) heap.array(), heap.offset() + from, s, slot * BLOCK, n);
    } else {
      ((IntBuffer) port).get(from, s, slot * BLOCK, n);
    }
  }

  @Override
  void store(int[] s, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(s, 0, (int[]) heap.array(), heap.offset() + at, n);
    } else {
      ((IntBuffer) port).put(at, s, 0, n);
    }
  }

  @Override
  void keep(int[] s, Object row, int block) {
    System.arraycopy(s, 0, (int[]) row, block * BLOCK, BLOCK);
  }

  @Override
  void recall(Object row, int block, int[] s, int slot) {
    System.arraycopy((int[]) row, block * BLOCK, s, slot * BLOCK, BLOCK);
  }

  @Override
  void join2(ReduceOp op, int[] s, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(s, n);
      case MIN -> min2(s, n);
      case MAX -> max2(s, n);
    }
  }

  private static void sum2(int[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = s[j] + s[j + BLOCK];
    }
  }

  private static void min2(int[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = Math.min(s[j], s[j + BLOCK]);
    }
  }

  private static void max2(int[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = Math.max(s[j], s[j + BLOCK]);
    }
  }

  @Override
  void sum3(int[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = (s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK];
    }
  }

  @Override
  void sum4(int[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = ((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK];
    }
  }

  @Override
  void sum5(int[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = (((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK]) + s[j + 4 * BLOCK];
    }
  }

  @Override
  void tree4(int[] s, int n) {
    sum4(s, n);
  }

  @Override
  void scale(int[] s, int n, int world) {
    throw new UnsupportedOperationException("op=mean is not defined for integers");
  }

  @Override
  boolean isOrderSensitive() {
    return false;
  }

  @Override
  void watch(int[] s, int n) {}

  @Override
  void watch4(int[] s) {}

  @Override
  boolean isAlarmed(int[] s) {
    return false;
  }

  @Override
  void canonicalise(int[] s, int n) {}
}
