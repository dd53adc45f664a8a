// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import org.rankfold.InternalApi;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * One element of a view at a time, as its raw bits: the slow, obvious access that everything fast
 * is checked against. Bits travel unchanged, those of signalling NaNs too.
 */
@InternalApi
public final class RawBits {
  private RawBits() {}

  /**
   * Reads an element.
   *
   * @param view where from
   * @param index the element, from 0
   * @return its bits in the low bytes, zeros above
   * @throws IndexOutOfBoundsException when the index is outside the view
   * @throws CollectiveException UNSUPPORTED when the view lies on a device
   */
  public static long read(View view, long index) {
    int i = checkedIndex(view, index);
    if (view instanceof HeapView heap) {
      int at = heap.offset() + i;
      return switch (heap.dtype()) {
        case F32 -> Float.floatToRawIntBits(((float[]) heap.array())[at]) & 0xffffffffL;
        case F64 -> Double.doubleToRawLongBits(((double[]) heap.array())[at]);
        case F16, BF16 -> ((short[]) heap.array())[at] & 0xffffL;
        case I32 -> ((int[]) heap.array())[at] & 0xffffffffL;
        case I64 -> ((long[]) heap.array())[at];
      };
    }
    DirectView direct = direct(view);
    int at = direct.byteOffset() + i * direct.dtype().bytes();
    return switch (direct.dtype()) {
      case F32, I32 -> direct.bytes().getInt(at) & 0xffffffffL;
      case F64, I64 -> direct.bytes().getLong(at);
      case F16, BF16 -> direct.bytes().getShort(at) & 0xffffL;
    };
  }

  /**
   * Writes an element.
   *
   * @param view where to
   * @param index the element, from 0
   * @param bits its bits in the low bytes; what is above them is ignored
   * @throws IndexOutOfBoundsException when the index is outside the view
   * @throws CollectiveException UNSUPPORTED when the view lies on a device
   */
  public static void write(View view, long index, long bits) {
    int i = checkedIndex(view, index);
    if (view instanceof HeapView heap) {
      int at = heap.offset() + i;
      switch (heap.dtype()) {
        case F32 -> ((float[]) heap.array())[at] = Float.intBitsToFloat((int) bits);
        case F64 -> ((double[]) heap.array())[at] = Double.longBitsToDouble(bits);
        case F16, BF16 -> ((short[]) heap.array())[at] = (short) bits;
        case I32 -> ((int[]) heap.array())[at] = (int) bits;
        case I64 -> ((long[]) heap.array())[at] = bits;
      }
      return;
    }
    DirectView direct = direct(view);
    int at = direct.byteOffset() + i * direct.dtype().bytes();
    switch (direct.dtype()) {
      case F32, I32 -> direct.bytes().putInt(at, (int) bits);
      case F64, I64 -> direct.bytes().putLong(at, bits);
      case F16, BF16 -> direct.bytes().putShort(at, (short) bits);
    }
  }

  private static DirectView direct(View view) {
    if (view instanceof DirectView direct) {
      return direct;
    }
    throw CollectiveException.usage(
        ErrorCode.UNSUPPORTED, "%s: the host cannot reach its elements; copy it first", view);
  }

  private static int checkedIndex(View view, long index) {
    if (index < 0 || index >= view.count()) {
      throw new IndexOutOfBoundsException("index=" + index + " is not below " + view.count());
    }
    return (int) index;
  }
}
