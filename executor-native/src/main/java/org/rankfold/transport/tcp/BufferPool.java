// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Direct buffers that groups of one process use one after the other, in sizes of powers of two;
 * keeps a bounded number of bytes that nobody uses. Thread-safe.
 */
final class BufferPool {
  private static final int SMALLEST_LOG2 = 12;
  private static final int SIZES = 32 - SMALLEST_LOG2;

  private final long mostKeptBytes;
  private final ArrayDeque<ByteBuffer>[] free;
  private long keptBytes;
  private long takenBytes;

  @SuppressWarnings({"unchecked", "rawtypes"})
  BufferPool(long mostKeptBytes) {
    this.mostKeptBytes = mostKeptBytes;
    this.free = new ArrayDeque[SIZES];
    for (int i = 0; i < SIZES; i++) {
      free[i] = new ArrayDeque<>();
    }
  }

  /** A buffer of at least so many bytes, its limit at them, its content unknown. */
  ByteBuffer take(int bytes) {
    int size = size(bytes);
    int capacity = 1 << (size + SMALLEST_LOG2);
    ByteBuffer buffer;
    synchronized (this) {
      buffer = free[size].poll();
      takenBytes += capacity;
      if (buffer != null) {
        keptBytes -= capacity;
      }
    }
    if (buffer == null) {
      buffer = ByteBuffer.allocateDirect(capacity);
    }
    return buffer.clear().limit(bytes);
  }

  /** Gives a buffer back that nobody refers to any more. */
  synchronized void give(ByteBuffer buffer) {
    int capacity = buffer.capacity();
    takenBytes -= capacity;
    if (keptBytes + capacity <= mostKeptBytes) {
      keptBytes += capacity;
      free[size(capacity)].push(buffer);
    }
  }

  /** The bytes in use. */
  synchronized long takenBytes() {
    return takenBytes;
  }

  private static int size(int bytes) {
    int log2 = 32 - Integer.numberOfLeadingZeros(Math.max(1, bytes) - 1);
    return Math.max(0, log2 - SMALLEST_LOG2);
  }
}
