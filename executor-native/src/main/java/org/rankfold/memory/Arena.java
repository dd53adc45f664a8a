// SPDX-License-Identifier: Apache-2.0
package org.rankfold.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.View;

/**
 * Contiguous direct memory for one logical rank's elements, zeroed, aligned to 64 bytes and padded
 * so that every task's shard is whole. Views and buffers of an arena must not be used after {@link
 * #close()}: its memory may belong to a later arena then. They stay readable after the communicator
 * that allocated it is closed.
 */
public final class Arena implements AutoCloseable {
  /** The alignment of an arena and of its shards. */
  public static final int ALIGNMENT_BYTES = 64;

  private final DType dtype;
  private final int count;
  private final long paddedCount;
  private final ArenaSource.Block block;
  private final AtomicBoolean closed = new AtomicBoolean();

  private Arena(DType dtype, int count, long paddedCount, ArenaSource.Block block) {
    this.dtype = dtype;
    this.count = count;
    this.paddedCount = paddedCount;
    this.block = block;
  }

  /**
   * A new arena in fresh direct memory.
   *
   * @param dtype the element type
   * @param count elements the user sees
   * @param shards the number of equal shards the padding must allow
   * @return the arena, owned by the caller
   * @throws CollectiveException INVALID_ARGUMENT when the padded arena would exceed 2 GiB or count
   *     is negative
   */
  public static Arena allocate(DType dtype, long count, int shards) {
    return allocate(dtype, count, shards, ArenaSource.DIRECT);
  }

  /**
   * A new arena in memory of a source.
   *
   * @param dtype the element type
   * @param count elements the user sees
   * @param shards the number of equal shards the padding must allow
   * @param source where its memory comes from
   * @return the arena, owned by the caller
   * @throws CollectiveException INVALID_ARGUMENT when the padded arena would exceed 2 GiB or count
   *     is negative; as {@link ArenaSource#take} says
   */
  public static Arena allocate(DType dtype, long count, int shards, ArenaSource source) {
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
    return new Arena(dtype, (int) count, padded, source.take((int) padded * dtype.bytes()));
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
    if (closed.get()) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the arena is closed");
    }
    return block.bytes().slice(0, count * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void require(boolean fits, String wanted) {
    if (!fits) {
      throw CollectiveException.usage(
          ErrorCode.CONTRACT_MISMATCH, "arena dtype=%s != %s", dtype.label(), wanted);
    }
  }

  /** Gives the memory back to where it came from; idempotent. Not while a call uses the arena. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      block.giveBack().run();
    }
  }
}
