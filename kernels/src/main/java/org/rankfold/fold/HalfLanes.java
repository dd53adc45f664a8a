// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.ShortBuffer;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** 16-bit types: loops of floats between a widening and a rounding of each block. */
final class HalfLanes extends Lanes<HalfBench> {
  private static final int BLOCK = HalfLoops.BLOCK;

  private final HalfLoops loops;

  HalfLanes(HalfLoops loops) {
    this.loops = loops;
  }

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  HalfBench newBench() {
    return new HalfBench();
  }

  @Override
  Object newRow(int blocks) {
    return new float[blocks * BLOCK];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asShortBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, HalfBench bench, int slot) {
    if (port instanceof HeapView heap) {
      System.arraycopy((short[]) heap.array(), heap.offset() + from, bench.raw, 0, n);
    } else {
      ((ShortBuffer) port).get(from, bench.raw, 0, n);
    }
    loops.widen(bench.raw, bench.wide, slot);
  }

  @Override
  void store(HalfBench bench, int n, Object port, int at) {
    loops.narrow(bench.wide, bench.raw);
    if (port instanceof HeapView heap) {
      System.arraycopy(bench.raw, 0, (short[]) heap.array(), heap.offset() + at, n);
    } else {
      ((ShortBuffer) port).put(at, bench.raw, 0, n);
    }
  }

  @Override
  void keep(HalfBench bench, Object row, int block) {
    System.arraycopy(bench.wide, 0, (float[]) row, block * BLOCK, BLOCK);
  }

  @Override
  void recall(Object row, int block, HalfBench bench, int slot) {
    System.arraycopy((float[]) row, block * BLOCK, bench.wide, slot * BLOCK, BLOCK);
  }

  @Override
  void join2(ReduceOp op, HalfBench bench, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(bench.wide);
      case MIN -> min2(bench.wide);
      case MAX -> max2(bench.wide);
    }
  }

  private static void sum2(float[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j] = s[j] + s[j + BLOCK];
    }
  }

  private static void min2(float[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j] = Math.min(s[j], s[j + BLOCK]);
    }
  }

  private static void max2(float[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j] = Math.max(s[j], s[j + BLOCK]);
    }
  }

  @Override
  void sum3(HalfBench bench, int n) {
    sum3(bench.wide);
  }

  private static void sum3(float[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j] = (s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK];
    }
  }

  @Override
  void sum4(HalfBench bench, int n) {
    sum4(bench.wide);
  }

  private static void sum4(float[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j] = ((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK];
    }
  }

  @Override
  void sum5(HalfBench bench, int n) {
    sum5(bench.wide);
  }

  private static void sum5(float[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j] = (((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK]) + s[j + 4 * BLOCK];
    }
  }

  @Override
  void tree4(HalfBench bench, int n) {
    tree4(bench.wide);
  }

  private static void tree4(float[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j] = (s[j] + s[j + BLOCK]) + (s[j + 2 * BLOCK] + s[j + 3 * BLOCK]);
    }
  }

  @Override
  void scale(HalfBench bench, int n, int world) {
    multiply(bench.wide, 1.0f / world);
  }

  private static void multiply(float[] s, float factor) {
    for (int j = 0; j < BLOCK; j++) {
      s[j] *= factor;
    }
  }

  @Override
  boolean isOrderSensitive() {
    return true;
  }

  @Override
  void watch(HalfBench bench, int n) {}

  @Override
  void watch4(HalfBench bench) {}

  /** Rounding makes NaNs canonical. */
  @Override
  boolean isAlarmed(HalfBench bench) {
    return false;
  }

  @Override
  void canonicalise(HalfBench bench, int n) {}
}
