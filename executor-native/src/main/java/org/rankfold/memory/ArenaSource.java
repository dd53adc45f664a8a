// SPDX-License-Identifier: Apache-2.0
package org.rankfold.memory;

import java.nio.ByteBuffer;

/** Where the memory of arenas comes from. Thread-safe. */
@FunctionalInterface
public interface ArenaSource {
  /** Fresh direct memory for each arena; it goes when nothing refers to it. */
  ArenaSource DIRECT =
      byteCount -> {
        ByteBuffer aligned =
            ByteBuffer.allocateDirect(byteCount + Arena.ALIGNMENT_BYTES)
                .alignedSlice(Arena.ALIGNMENT_BYTES);
        return new Block(aligned.slice(0, byteCount), () -> {});
      };

  /**
   * Memory for one arena.
   *
   * @param byteCount its size, at least 0
   * @return zeroed memory, aligned to {@link Arena#ALIGNMENT_BYTES}
   * @throws org.rankfold.errors.CollectiveException TOO_LITTLE_MEMORY with the numbers; CLOSED when
   *     the source gives no more
   */
  Block take(int byteCount);

  /**
   * An arena's memory.
   *
   * @param bytes exactly as many as asked for
   * @param giveBack to be run once, when the arena is closed
   */
  record Block(ByteBuffer bytes, Runnable giveBack) {}
}
