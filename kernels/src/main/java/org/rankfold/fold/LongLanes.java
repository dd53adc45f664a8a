// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.LongBuffer;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/** The loops of {@code long[]} accumulators. */
final class LongLanes extends Lanes<long[]> {
  private static final int BLOCK = BLOCK_BYTES / Long.BYTES;

  @Override
  int blockElements() {
    return BLOCK;
  }

  @Override
  long[] newBlock() {
    return new long[BLOCK];
  }

  @Override
  Object port(View view) {
    return view instanceof DirectView direct ? direct.window().asLongBuffer() : view;
  }

  @Override
  void load(Object port, int from, int n, long[] block) {
    ((LongBuffer) port).get(from, block, 0, n);
  }

  @Override
  void store(long[] from, int offset, int n, Object port, int at) {
    if (port instanceof HeapView heap) {
      System.arraycopy(from, offset, heap.array(), heap.offset() + at, n);
    } else {
      ((LongBuffer) port).put(at, from, offset, n);
    }
  }

  @Override
  void join2(ReduceOp op, long[] d, int o, long[] a, int ao, long[] b, int bo, int n) {
    switch (op) {
      case SUM, MEAN -> sum2(d, o, a, ao, b, bo, n);
      case MIN -> min2(d, o, a, ao, b, bo, n);
      case MAX -> max2(d, o, a, ao, b, bo, n);
    }
  }

  private static void sum2(long[] d, int o, long[] a, int ao, long[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = a[ao + j] + b[bo + j];
    }
  }

  private static void min2(long[] d, int o, long[] a, int ao, long[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = Math.min(a[ao + j], b[bo + j]);
    }
  }

  private static void max2(long[] d, int o, long[] a, int ao, long[] b, int bo, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = Math.max(a[ao + j], b[bo + j]);
    }
  }

  @Override
  void sum3(long[] d, int o, long[] a, int ao, long[] b, int bo, long[] c, int co, int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = (a[ao + j] + b[bo + j]) + c[co + j];
    }
  }

  @Override
  void sum4(
      long[] d,
      int o,
      long[] a,
      int ao,
      long[] b,
      int bo,
      long[] c,
      int co,
      long[] e,
      int eo,
      int n) {
    for (int j = 0; j < n; j++) {
      d[o + j] = ((a[ao + j] + b[bo + j]) + c[co + j]) + e[eo + j];
    }
  }

  @Override
  void tree4(
      long[] d,
      int o,
      long[] a,
      int ao,
      long[] b,
      int bo,
      long[] c,
      int co,
      long[] e,
      int eo,
      int n) {
    sum4(d, o, a, ao, b, bo, c, co, e, eo, n);
  }

  @Override
  void scale(long[] d, int o, int n, int world) {
    throw new UnsupportedOperationException("op=mean is not defined for integers");
  }

  @Override
  void canonicalise(long[] d, int o, int n, long[] spare) {}

  @Override
  boolean isOrderSensitive() {
    return false;
  }
}
