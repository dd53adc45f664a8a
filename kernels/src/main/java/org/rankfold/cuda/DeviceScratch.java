// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Scratch memory of a device, kept between calls in blocks of a few sizes and bounded in all. A
 * block that was given back is handed out again, or freed, only after the work that used it.
 * Thread-safe.
 */
public final class DeviceScratch implements AutoCloseable {
  private static final long LEAST_BLOCK_BYTES = 1L << 20;

  private final CudaDevice device;
  private final long limitBytes;
  private final List<Block> idle = new ArrayList<>();
  private long heldBytes;
  private boolean isClosed;

  /**
   * An empty pool.
   *
   * @param device whose memory
   * @param limitBytes the most it holds, in use or not
   */
  public DeviceScratch(CudaDevice device, long limitBytes) {
    this.device = device;
    this.limitBytes = limitBytes;
  }

  /**
   * Takes a block.
   *
   * @param bytes how much is needed
   * @param deadline when to stop waiting for blocks that are still in use by the device
   * @param abort ends such a wait with its cause; may be null
   * @return the block, of at least that size, to be given back
   * @throws CollectiveException TOO_LITTLE_MEMORY when the limit is too small for it beside the
   *     blocks that others have; TIMEOUT or the latch's cause when a wait ended; CLOSED
   */
  public synchronized Block take(long bytes, Deadline deadline, AbortLatch abort) {
    if (isClosed) {
      throw CollectiveException.usage(
          ErrorCode.CLOSED, "the scratch of %s is closed", device.name());
    }
    long size = sizeOf(bytes);
    for (Block block : idle) {
      if (block.memory.bytes() == size && block.lastUse.isDone()) {
        idle.remove(block);
        return block;
      }
    }
    makeRoom(size, deadline, abort);
    DeviceMemory memory = DeviceMemory.allocate(device, size);
    heldBytes += size;
    return new Block(memory, CudaEvent.create(device));
  }

  /**
   * How much the pool holds.
   *
   * @return bytes, in use or not
   */
  public synchronized long heldBytes() {
    return heldBytes;
  }

  /** Frees idle blocks, the longest idle first, until one of that size fits. */
  private void makeRoom(long size, Deadline deadline, AbortLatch abort) {
    while (heldBytes + size > limitBytes) {
      if (idle.isEmpty()) {
        throw CollectiveException.usage(
            ErrorCode.TOO_LITTLE_MEMORY,
            "scratch of %d bytes + %d bytes in use > limit %d bytes of %s",
            size,
            heldBytes,
            limitBytes,
            device.name());
      }
      free(idle.get(0), deadline, abort);
    }
  }

  private void free(Block block, Deadline deadline, AbortLatch abort) {
    block.lastUse.await(deadline, abort);
    idle.remove(block);
    heldBytes -= block.memory.bytes();
    block.lastUse.close();
    block.memory.close();
  }

  private synchronized void giveBack(Block block) {
    idle.add(block);
  }

  /** Powers of two from 1 MiB on: a few sizes only, at most half of a block unused. */
  static long sizeOf(long bytes) {
    if (bytes < 0 || bytes > 1L << 62) {
      throw CollectiveException.usage(ErrorCode.INVALID_ARGUMENT, "bytes=%d", bytes);
    }
    return bytes <= LEAST_BLOCK_BYTES ? LEAST_BLOCK_BYTES : Long.highestOneBit(bytes - 1) << 1;
  }

  /**
   * Frees all blocks that were given back; what is still taken is not freed at all. Waits ten
   * seconds at most for work that uses them, and then leaves the memory alone. Doing it again frees
   * what was given back since.
   */
  @Override
  public synchronized void close() {
    isClosed = true;
    Deadline deadline = Deadline.after(System.nanoTime(), 10_000_000_000L);
    while (!idle.isEmpty()) {
      free(idle.get(0), deadline, null);
    }
  }

  /** A stretch of scratch, its taker's until given back. */
  public final class Block {
    private final DeviceMemory memory;
    private final CudaEvent lastUse;

    private Block(DeviceMemory memory, CudaEvent lastUse) {
      this.memory = memory;
      this.lastUse = lastUse;
    }

    /**
     * The memory; what it holds is not defined.
     *
     * @return memory that the pool owns: not to be closed
     */
    public DeviceMemory memory() {
      return memory;
    }

    /**
     * Gives the block back once; the pool hands it on after what the stream has been given so far.
     *
     * @param stream the stream whose work used it last
     */
    public void giveBackBehind(CudaStream stream) {
      lastUse.record(stream);
      giveBack(this);
    }
  }
}
