// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.contract.DType;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.RankTable;
import org.rankfold.view.View;

/**
 * Which stretch of the addends each task folds, chunk by chunk. Nothing here can change a bit: a
 * chunk is only where work pauses.
 *
 * <p>An all-reduce deals the elements out in equal shards, aligned to 64 bytes, the last ones
 * shorter. In a reduce-scatter a task folds the parts of the logical ranks it hosts.
 */
final class FoldSchedule {
  private static final int SHARD_ALIGNMENT_BYTES = 64;

  private final RankTable table;
  private final long count;
  private final long partCount;
  private final boolean scattered;
  private final int chunkElements;

  private FoldSchedule(
      RankTable table, long count, long partCount, boolean scattered, int chunkElements) {
    this.table = table;
    this.count = count;
    this.partCount = partCount;
    this.scattered = scattered;
    this.chunkElements = chunkElements;
  }

  /** Every task folds everything, as one chunk. */
  static FoldSchedule whole(RankTable table, long count) {
    return new FoldSchedule(table, count, 0, false, Math.toIntExact(count));
  }

  static FoldSchedule shards(RankTable table, DType dtype, long count, int chunkBytes) {
    long align = Math.max(1, SHARD_ALIGNMENT_BYTES / dtype.bytes());
    long even = (count + table.tasks() - 1) / table.tasks();
    long shard = (even + align - 1) / align * align;
    return new FoldSchedule(table, count, shard, false, chunkElements(dtype, chunkBytes));
  }

  static FoldSchedule parts(RankTable table, DType dtype, long count, int chunkBytes) {
    return new FoldSchedule(
        table, count, count / table.world(), true, chunkElements(dtype, chunkBytes));
  }

  /** The number of elements that move at a time, at least one. */
  static int chunkElements(DType dtype, int chunkBytes) {
    return Math.max(1, chunkBytes / dtype.bytes());
  }

  /** How many chunks the task folds. */
  int chunks(int task) {
    if (scattered) {
      return Math.multiplyExact(table.rankCount(task), chunksOf(partCount));
    }
    if (isWhole()) {
      return count == 0 ? 0 : 1;
    }
    long from = Math.min(count, task * partCount);
    return chunksOf(Math.min(partCount, count - from));
  }

  /** The most chunks any task folds. */
  int mostChunks() {
    return chunks(0);
  }

  /** Where the chunk of a task starts in an addend. */
  long from(int task, int chunk) {
    if (!scattered) {
      return task * partCount + (long) chunk * chunkElements;
    }
    return part(task, chunk) * partCount + fromInPart(chunk);
  }

  /** The number of elements in the chunk. */
  long length(int task, int chunk) {
    if (isWhole()) {
      return count;
    }
    if (!scattered) {
      return Math.min(chunkElements, Math.min(count, (task + 1) * partCount) - from(task, chunk));
    }
    return Math.min(chunkElements, partCount - fromInPart(chunk));
  }

  /** The chunk of a task in an addend, or in the output of an all-reduce. */
  View stretch(View whole, int task, int chunk) {
    return whole.slice(from(task, chunk), length(task, chunk));
  }

  /** Where a task's folded chunk belongs in an output; null for what is no folded chunk of it. */
  View placeOfResult(View out, int sender, DeliveryTag tag) {
    boolean known =
        tag.phase() == DeliveryTag.Phase.RESULT
            && tag.index() == sender
            && tag.chunk() < chunks(sender);
    return known ? stretch(out, sender, tag.chunk()) : null;
  }

  private boolean isWhole() {
    return partCount == 0 && !scattered;
  }

  /** The logical rank whose part the chunk belongs to; reduce-scatter only. */
  int part(int task, int chunk) {
    return table.firstRank(task) + chunk / chunksOf(partCount);
  }

  /** Where the chunk starts in its part; reduce-scatter only. */
  long fromInPart(int chunk) {
    return (long) (chunk % chunksOf(partCount)) * chunkElements;
  }

  private int chunksOf(long elements) {
    return Math.toIntExact((elements + chunkElements - 1) / chunkElements);
  }
}
