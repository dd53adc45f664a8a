// SPDX-License-Identifier: Apache-2.0
package org.rankfold.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.View;

/**
 * Contiguous direct memory for one logical rank's elements, zeroed, aligned to 64 bytes and padded
 * so that every task's shard is whole. Views and buffers of an arena stay readable after {@link
 * #close()}, which only ends the arena's own claim: the memory goes when nothing refers to it.
 */
public final class Arena implements AutoCloseable {
  /** The alignment of an arena and of its shards. */
  public static final int ALIGNMENT_BYTES = 64;

  private final DType dtype;
  private final int count;
  private final long paddedCount;
  private final ByteBuffer bytes;
  private volatile boolean closed;

  private Arena(DType dtype, int count, long paddedCount, ByteBuffer bytes) {
    this.dtype = dtype;
    this.count = count;
    this.paddedCount = paddedCount;
    this.bytes = bytes;
  }

  /**
   * A new arena.
   *
   * @param dtype the element type
   * @param count elements the user sees
   * @param shards the number of equal shards the padding must allow
   * @return the arena, owned by the caller
   * @throws CollectiveException INVALID_ARGUMENT when the padded arena would exceed 2 GiB or count
   *     is negative
   */
  public static Arena allocate(DType dtype, long count, int shards) {
    long align = ALIGNMENT_BYTES / dtype.bytes();
    long even = count < 0 ? -1 : (count + shards - 1) / shards;
    long padded = (even + align - 1) / align * align * shards;
    if (count < 0 || padded > (Integer.MAX_VALUE - ALIGNMENT_BYTES) / dtype.bytes()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "arena of %s x %d (padded %d) is not between 0 and 2 GiB",
          dtype.label(),
          count,
          padded);
    }
    int byteCount = (int) padded * dtype.bytes();
    ByteBuffer aligned =
        ByteBuffer.allocateDirect(byteCount + ALIGNMENT_BYTES).alignedSlice(ALIGNMENT_BYTES);
    return new Arena(dtype, (int) count, padded, aligned.slice(0, byteCount));
  }

  /**
   * The element type.
   *
   * @return the type
   */
  public DType dtype() {
    return dtype;
  }

  /**
   * The elements asked for.
   *
   * @return elements
   */
  public long count() {
    return count;
  }

  /**
   * The elements there is memory for.
   *
   * @return elements, at least {@link #count()}
   */
  public long paddedCount() {
    return paddedCount;
  }

  /**
   * All elements asked for, for collectives.
   *
   * @return a view of {@link #count()} elements
   */
  public View view() {
    return View.of(window(), dtype);
  }

  /**
   * The elements as floats.
   *
   * @return a little-endian buffer over the arena
   * @throws CollectiveException CONTRACT_MISMATCH when the arena holds another type
   */
  public FloatBuffer floats() {
    require(dtype == DType.F32, "f32");
    return window().asFloatBuffer();
  }

  /**
   * The elements as doubles.
   *
   * @return a little-endian buffer over the arena
   * @throws CollectiveException CONTRACT_MISMATCH when the arena holds another type
   */
  public DoubleBuffer doubles() {
    require(dtype == DType.F64, "f64");
    return window().asDoubleBuffer();
  }

  /**
   * The raw bits of 16-bit floating-point elements.
   *
   * @return a little-endian buffer over the arena
   * @throws CollectiveException CONTRACT_MISMATCH when the arena holds another type
   */
  public ShortBuffer halves() {
    require(dtype.isHalf(), "f16 or bf16");
    return window().asShortBuffer();
  }

  /**
   * The elements as ints.
   *
   * @return a little-endian buffer over the arena
   * @throws CollectiveException CONTRACT_MISMATCH when the arena holds another type
   */
  public IntBuffer ints() {
    require(dtype == DType.I32, "i32");
    return window().asIntBuffer();
  }

  /**
   * The elements as longs.
   *
   * @return a little-endian buffer over the arena
   * @throws CollectiveException CONTRACT_MISMATCH when the arena holds another type
   */
  public LongBuffer longs() {
    require(dtype == DType.I64, "i64");
    return window().asLongBuffer();
  }

  private ByteBuffer window() {
    if (closed) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the arena is closed");
    }
    return bytes.slice(0, count * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void require(boolean fits, String wanted) {
    if (!fits) {
      throw CollectiveException.usage(
          ErrorCode.CONTRACT_MISMATCH, "arena dtype=%s != %s", dtype.label(), wanted);
    }
  }

  /** Ends the arena's claim on its memory; idempotent. */
  @Override
  public void close() {
    closed = true;
  }
}
