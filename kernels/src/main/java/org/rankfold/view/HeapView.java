// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import java.util.Objects;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** A stretch of a primitive array. Folds and transports reach the array; users make views only. */
public final class HeapView implements View {
  private final DType dtype;
  private final Object array;
  private final int offset;
  private final int length;

  HeapView(DType dtype, Object array, int arrayLength, int offset, int length) {
    Objects.requireNonNull(array, "array");
    if (!matches(dtype, array)) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "dtype=%s does not fit an array of %s",
          dtype.label(),
          array.getClass().getComponentType());
    }
    if (offset < 0 || length < 0 || offset > arrayLength - length) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "view from=%d count=%d is not inside length=%d",
          offset,
          length,
          arrayLength);
    }
    this.dtype = dtype;
    this.array = array;
    this.offset = offset;
    this.length = length;
  }

  private HeapView(HeapView whole, int offset, int length) {
    this.dtype = whole.dtype;
    this.array = whole.array;
    this.offset = offset;
    this.length = length;
  }

  private static boolean matches(DType dtype, Object array) {
    return switch (dtype) {
      case F32 -> array instanceof float[];
      case F64 -> array instanceof double[];
      case F16, BF16 -> array instanceof short[];
      case I32 -> array instanceof int[];
      case I64 -> array instanceof long[];
    };
  }

  @Override
  public DType dtype() {
    return dtype;
  }

  @Override
  public long count() {
    return length;
  }

  /**
   * The whole array behind the view.
   *
   * @return a float[], double[], short[], int[] or long[], as the type says
   */
  public Object array() {
    return array;
  }

  /**
   * Where the view starts in its array.
   *
   * @return an index
   */
  public int offset() {
    return offset;
  }

  /**
   * The number of elements as an int.
   *
   * @return elements
   */
  public int length() {
    return length;
  }

  @Override
  public HeapView slice(long from, long count) {
    Slices.check(this, from, count);
    return new HeapView(this, offset + (int) from, (int) count);
  }

  @Override
  @SuppressWarnings("SuspiciousSystemArraycopy")
  public void copyTo(View destination) {
    Slices.checkAlike(this, destination);
    if (destination instanceof HeapView heap) {
      System.arraycopy(array, offset, heap.array, heap.offset, length);
    } else if (destination instanceof DirectView direct) {
      direct.putAll(this);
    } else {
      DeviceView device = (DeviceView) destination;
      device.port().write(this, device);
    }
  }

  @Override
  public boolean overlaps(View other) {
    return other instanceof HeapView heap
        && heap.array == array
        && Slices.intersect(offset, length, heap.offset, heap.length);
  }

  @Override
  public boolean isSameStretchAs(View other) {
    return other instanceof HeapView heap
        && heap.array == array
        && heap.offset == offset
        && heap.length == length
        && heap.dtype == dtype;
  }

  @Override
  public String toString() {
    return dtype.label() + " x " + length + " (heap)";
  }
}
