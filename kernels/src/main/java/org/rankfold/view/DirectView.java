// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * A stretch of direct memory, at most 2 GiB. Folds and transports reach the bytes; users make views
 * only.
 */
public final class DirectView implements View {
  private final DType dtype;
  private final ByteBuffer bytes;
  private final int byteOffset;
  private final int count;

  private DirectView(DType dtype, ByteBuffer bytes, int byteOffset, int count) {
    this.dtype = dtype;
    this.bytes = bytes;
    this.byteOffset = byteOffset;
    this.count = count;
  }

  static DirectView of(ByteBuffer buffer, DType dtype) {
    if (!buffer.isDirect() || buffer.isReadOnly()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "direct=%b readOnly=%b, but a view needs a writable direct buffer",
          buffer.isDirect(),
          buffer.isReadOnly());
    }
    if (buffer.remaining() % dtype.bytes() != 0) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "remaining=%d bytes is no multiple of %d (%s)",
          buffer.remaining(),
          dtype.bytes(),
          dtype.label());
    }
    ByteBuffer own = buffer.slice().order(ByteOrder.LITTLE_ENDIAN);
    return new DirectView(dtype, own, 0, own.capacity() / dtype.bytes());
  }

  @Override
  public DType dtype() {
    return dtype;
  }

  @Override
  public long count() {
    return count;
  }

  /**
   * The little-endian buffer behind the view; for absolute access only, since views share it.
   *
   * @return the buffer; the view starts at {@link #byteOffset()}
   */
  public ByteBuffer bytes() {
    return bytes;
  }

  /**
   * Where the view starts in its buffer.
   *
   * @return bytes
   */
  public int byteOffset() {
    return byteOffset;
  }

  /**
   * A new little-endian buffer over exactly this view's bytes, for relative access.
   *
   * @return position 0, limit {@link #byteCount()}
   */
  public ByteBuffer window() {
    return bytes.slice(byteOffset, count * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * The address of the first element.
   *
   * @return an address in this process
   */
  public long address() {
    return DirectAddress.of(bytes) + byteOffset;
  }

  @Override
  public DirectView slice(long from, long sliceCount) {
    Slices.check(this, from, sliceCount);
    return new DirectView(dtype, bytes, byteOffset + (int) from * dtype.bytes(), (int) sliceCount);
  }

  @Override
  public void copyTo(View destination) {
    Slices.checkAlike(this, destination);
    if (destination instanceof DirectView direct) {
      if (!isSameStretchAs(direct)) {
        direct.bytes.put(direct.byteOffset, bytes, byteOffset, count * dtype.bytes());
      }
      return;
    }
    if (destination instanceof DeviceView device) {
      device.port().write(this, device);
      return;
    }
    HeapView heap = (HeapView) destination;
    ByteBuffer from = window();
    switch (dtype) {
      case F32 -> from.asFloatBuffer().get(0, (float[]) heap.array(), heap.offset(), count);
      case F64 -> from.asDoubleBuffer().get(0, (double[]) heap.array(), heap.offset(), count);
      case F16, BF16 -> from.asShortBuffer().get(0, (short[]) heap.array(), heap.offset(), count);
      case I32 -> from.asIntBuffer().get(0, (int[]) heap.array(), heap.offset(), count);
      case I64 -> from.asLongBuffer().get(0, (long[]) heap.array(), heap.offset(), count);
    }
  }

  void putAll(HeapView heap) {
    ByteBuffer to = window();
    switch (dtype) {
      case F32 -> to.asFloatBuffer().put(0, (float[]) heap.array(), heap.offset(), count);
      case F64 -> to.asDoubleBuffer().put(0, (double[]) heap.array(), heap.offset(), count);
      case F16, BF16 -> to.asShortBuffer().put(0, (short[]) heap.array(), heap.offset(), count);
      case I32 -> to.asIntBuffer().put(0, (int[]) heap.array(), heap.offset(), count);
      case I64 -> to.asLongBuffer().put(0, (long[]) heap.array(), heap.offset(), count);
    }
  }

  @Override
  public boolean overlaps(View other) {
    return other instanceof DirectView direct
        && Slices.intersect(address(), byteCount(), direct.address(), direct.byteCount());
  }

  @Override
  public boolean isSameStretchAs(View other) {
    return other instanceof DirectView direct
        && direct.dtype == dtype
        && direct.count == count
        && direct.address() == address();
  }

  @Override
  public String toString() {
    return dtype.label() + " x " + count + " (direct)";
  }
}
