// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.FloatBuffer;
import java.util.Arrays;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * The loops of {@code float[]} elements. A bench is one array: five slots, then what is watched.
 */
final class FloatLanes extends Lanes<float[]> {
  private static final int BLOCK = 128;

  /** Where the sum of all results since the last look lies: one NaN makes it a NaN. */
  private static final int WATCH = SLOTS * BLOCK;

  private static final float NAN = Float.intBitsToFloat(0x7fc00000);

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  float[] newBench() {
    return new float[(SLOTS + 1) * BLOCK];
  }

  @Override
  Object newRow(int blocks) {
    return new float[blocks * BLOCK];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asFloatBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, float[] s, int slot) {
    if (port instanceof HeapView heap) {
      System.arraycopy((float[]) heap.array(), heap.offset() + from, s, slot * BLOCK, n);
    } else {
      ((FloatBuffer) port).get(from, s, slot * BLOCK, n);
    }
  }

  @Override
  void store(float[] s, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(s, 0, (float[]) heap.array(), heap.offset() + at, n);
    } else {
      ((FloatBuffer) port).put(at, s, 0, n);
    }
  }

  @Override
  void keep(float[] s, Object row, int block) {
    System.arraycopy(s, 0, (float[]) row, block * BLOCK, BLOCK);
  }

  @Override
  void recall(Object row, int block, float[] s, int slot) {
    System.arraycopy((float[]) row, block * BLOCK, s, slot * BLOCK, BLOCK);
  }

  @Override
  void join2(ReduceOp op, float[] s, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(s, n);
      case MIN -> min2(s, n);
      case MAX -> max2(s, n);
    }
  }

  private static void sum2(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      float v = s[j] + s[j + BLOCK];
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  private static void min2(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      float v = Math.min(s[j], s[j + BLOCK]);
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  private static void max2(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      float v = Math.max(s[j], s[j + BLOCK]);
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  @Override
  void sum3(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      float v = (s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK];
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  @Override
  void sum4(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      float v = ((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK];
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  @Override
  void sum5(float[] s, int n) {
    add5(s, n);
    watch(s, n);
  }

  /** HotSpot 17 makes no vectors of this and the watching in one loop. */
  private static void add5(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j] = (((s[j] + s[j + BLOCK]) + s[j + 2 * BLOCK]) + s[j + 3 * BLOCK]) + s[j + 4 * BLOCK];
    }
  }

  @Override
  void tree4(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      float v = (s[j] + s[j + BLOCK]) + (s[j + 2 * BLOCK] + s[j + 3 * BLOCK]);
      s[j] = v;
      s[j + WATCH] += v;
    }
  }

  @Override
  void scale(float[] s, int n, int world) {
    multiply(s, 1.0f / world, n);
  }

  private static void multiply(float[] s, float factor, int n) {
    for (int j = 0; j < n; j++) {
      s[j] *= factor;
    }
  }

  @Override
  boolean isOrderSensitive() {
    return true;
  }

  @Override
  void watch(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      s[j + WATCH] += s[j];
    }
  }

  @Override
  void watch4(float[] s) {
    for (int j = 0; j < BLOCK; j++) {
      s[j + WATCH] += (s[j] + s[j + BLOCK]) + (s[j + 2 * BLOCK] + s[j + 3 * BLOCK]);
    }
  }

  @Override
  boolean isAlarmed(float[] s) {
    float even = 0;
    float odd = 0;
    for (int j = WATCH; j < WATCH + BLOCK; j += 2) {
      even += s[j];
      odd += s[j + 1];
    }
    Arrays.fill(s, WATCH, WATCH + BLOCK, 0);
    return Float.isNaN(even + odd);
  }

  @Override
  void canonicalise(float[] s, int n) {
    for (int j = 0; j < n; j++) {
      if (Float.isNaN(s[j])) {
        s[j] = NAN;
      }
    }
  }
}
