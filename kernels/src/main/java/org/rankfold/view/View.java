// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import java.nio.ByteBuffer;
import org.rankfold.contract.DType;

/**
 * A stretch of elements of one type. A view borrows: whoever made the array or buffer keeps it
 * alive and decides who may touch it; a view of memory that a collective is using must not be
 * written by the caller until the call returned.
 *
 * <p>Views are immutable values and may be shared between threads; the elements behind them are not
 * synchronised in any way.
 */
public sealed interface View permits HeapView, DirectView, DeviceView {
  /**
   * The element type.
   *
   * @return the type of every element
   */
  DType dtype();

  /**
   * The number of elements.
   *
   * @return elements, at least 0
   */
  long count();

  /**
   * A part of this view over the same memory.
   *
   * @param from first element, from 0
   * @param count elements
   * @return the part
   * @throws org.rankfold.errors.CollectiveException INVALID_ARGUMENT when the part reaches outside
   */
  View slice(long from, long count);

  /**
   * Copies all elements, bit by bit, to a view of the same type and count that does not overlap
   * this one (or is the same stretch).
   *
   * @param destination where to
   * @throws org.rankfold.errors.CollectiveException INVALID_ARGUMENT when type or count differ
   */
  void copyTo(View destination);

  /**
   * Whether at least one byte belongs to both views.
   *
   * @param other any view
   * @return true when memory is shared; never for an empty view
   */
  boolean overlaps(View other);

  /**
   * Whether both views are the same stretch of the same memory.
   *
   * @param other any view
   * @return true when start, count and type are equal
   */
  boolean isSameStretchAs(View other);

  /**
   * The size in bytes.
   *
   * @return count times the element size
   */
  default long byteCount() {
    return count() * dtype().bytes();
  }

  /**
   * All of an array, as f32.
   *
   * @param elements the array, borrowed
   * @return its view
   */
  static View of(float[] elements) {
    return of(elements, 0, elements.length);
  }

  /**
   * A part of an array, as f32.
   *
   * @param elements the array, borrowed
   * @param from first element
   * @param count elements
   * @return its view
   */
  static View of(float[] elements, int from, int count) {
    return new HeapView(DType.F32, elements, elements.length, from, count);
  }

  /**
   * All of an array, as f64.
   *
   * @param elements the array, borrowed
   * @return its view
   */
  static View of(double[] elements) {
    return of(elements, 0, elements.length);
  }

  /**
   * A part of an array, as f64.
   *
   * @param elements the array, borrowed
   * @param from first element
   * @param count elements
   * @return its view
   */
  static View of(double[] elements, int from, int count) {
    return new HeapView(DType.F64, elements, elements.length, from, count);
  }

  /**
   * All of an array, as i32.
   *
   * @param elements the array, borrowed
   * @return its view
   */
  static View of(int[] elements) {
    return of(elements, 0, elements.length);
  }

  /**
   * A part of an array, as i32.
   *
   * @param elements the array, borrowed
   * @param from first element
   * @param count elements
   * @return its view
   */
  static View of(int[] elements, int from, int count) {
    return new HeapView(DType.I32, elements, elements.length, from, count);
  }

  /**
   * All of an array, as i64.
   *
   * @param elements the array, borrowed
   * @return its view
   */
  static View of(long[] elements) {
    return of(elements, 0, elements.length);
  }

  /**
   * A part of an array, as i64.
   *
   * @param elements the array, borrowed
   * @param from first element
   * @param count elements
   * @return its view
   */
  static View of(long[] elements, int from, int count) {
    return new HeapView(DType.I64, elements, elements.length, from, count);
  }

  /**
   * All of an array of 16-bit floating-point numbers.
   *
   * @param elements the raw bits, borrowed
   * @param dtype F16 or BF16
   * @return its view
   */
  static View of(short[] elements, DType dtype) {
    return of(elements, dtype, 0, elements.length);
  }

  /**
   * A part of an array of 16-bit floating-point numbers.
   *
   * @param elements the raw bits, borrowed
   * @param dtype F16 or BF16
   * @param from first element
   * @param count elements
   * @return its view
   */
  static View of(short[] elements, DType dtype, int from, int count) {
    return new HeapView(dtype, elements, elements.length, from, count);
  }

  /**
   * Direct memory: the bytes from the buffer's position to its limit, little-endian whatever the
   * buffer's own order. Later changes of the buffer's position, limit and order don't matter.
   *
   * @param bytes a direct buffer, borrowed
   * @param dtype what its bytes are
   * @return its view
   * @throws org.rankfold.errors.CollectiveException INVALID_ARGUMENT when the buffer is not direct,
   *     is read-only, or the remaining bytes are no multiple of the element size
   */
  static View of(ByteBuffer bytes, DType dtype) {
    return DirectView.of(bytes, dtype);
  }
}
