// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.FloatBuffer;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** The loops of {@code float[]} accumulators. */
class FloatLanes extends Lanes<float[]> {
  private static final int BLOCK = BLOCK_BYTES / Float.BYTES;
  private static final float NAN = Float.intBitsToFloat(0x7fc00000);

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  float[] newBlock() {
    return new float[BLOCK];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asFloatBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, float[] block) {
    ((FloatBuffer) port).get(from, block, 0, n);
  }

  @Override
  void store(float[] from, int offset, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(from, offset, heap.array(), heap.offset() + at, n);
    } else {
      ((FloatBuffer) port).put(at, from, offset, n);
    }
  }

  @Override
  void join2(ReduceOp op, float[] d, int o, float[] a, int ao, float[] b, int bo, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(d, o, a, ao, b, bo, n);
      case MIN -> min2(d, o, a, ao, b, bo, n);
      case MAX -> max2(d, o, a, ao, b, bo, n);
    }
  }

  private static void sum2(float[] d, int o, float[] a, int ao, float[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = a[ao + j] + b[bo + j];
    }
  }

  private static void min2(float[] d, int o, float[] a, int ao, float[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = Math.min(a[ao + j], b[bo + j]);
    }
  }

  private static void max2(float[] d, int o, float[] a, int ao, float[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = Math.max(a[ao + j], b[bo + j]);
    }
  }

  @Override
  void sum3(float[] d, int o, float[] a, int ao, float[] b, int bo, float[] c, int co, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = (a[ao + j] + b[bo + j]) + c[co + j];
    }
  }

  @Override
  void sum4(
      float[] d,
      int o,
      float[] a,
      int ao,
      float[] b,
      int bo,
      float[] c,
      int co,
      float[] e,
      int eo,
      int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = ((a[ao + j] + b[bo + j]) + c[co + j]) + e[eo + j];
    }
  }

  @Override
  void tree4(
      float[] d,
      int o,
      float[] a,
      int ao,
      float[] b,
      int bo,
      float[] c,
      int co,
      float[] e,
      int eo,
      int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = (a[ao + j] + b[bo + j]) + (c[co + j] + e[eo + j]);
    }
  }

  @Override
  void scale(float[] d, int o, int n, int world) {
    float factor = 1.0f / world;
    for (int j = 0; j < n; j++) {
      d[o + j] *= factor;
    }
  }

  @Override
  void canonicalise(float[] d, int o, int n, float[] spare) {
    if (mayHaveNaN(d, o, n, spare)) {
      for (int j = o; j < o + n; j++) {
        if (Float.isNaN(d[j])) {
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
  private static boolean mayHaveNaN(float[] d, int o, int n, float[] spare) {
    float sum = 0;
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
    return Float.isNaN(sum);
  }

  private static void quarter(float[] spare, float[] d, int o, int q) {
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
