// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.fold.PartialFold;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;

/**
 * How the addends of an all-reduce travel, concluded by every task from what all know alike: the
 * header, who hosts what, the transport's promise and the settings.
 *
 * <p>Counted in arenas that the busiest task sends, with L logical ranks, k of them on a task of T,
 * an element's bytes e and an accumulator's a: the addends themselves take (k + 1) (T - 1) / T; the
 * chain a / e + 1 (one of the two at T = 2); m subtrees a task (m a / e + 1) (T - 1) / T.
 */
enum PartialPlan {
  /** As they are, to the owner of each shard. */
  ADDENDS,
  /** RANK_LEFT: a sum goes from task to task and grows; the result goes back. */
  CHAIN,
  /** RANK_TREE: the sums of the subtrees that lie whole on a task, to the owner of each shard. */
  SUBTREES;

  /** Sums of subtrees are kept for a whole call, in direct memory. */
  private static final long MOST_SCRATCH_BYTES = 1L << 30;

  /** A chain shorter than its fill gains nothing. */
  private static final int CHAIN_FILLS = 4;

  /** For memory that a transport moves. */
  static PartialPlan of(
      CallHeader header, RankTable table, Transport transport, EngineSettings settings) {
    return mayUseSums(header, table, settings) && transport.stagesAll()
        ? of(
            header,
            table,
            settings.partials(),
            transport.smallBytes(),
            settings.chunkBytes(),
            MOST_SCRATCH_BYTES)
        : ADDENDS;
  }

  /**
   * For device memory that an exchange moves, of which scratch is needed for a few chunks only.
   * Halves go as they are: no device fold mixes them with the f32 that holds their sums.
   */
  static PartialPlan ofDevices(CallHeader header, RankTable table, EngineSettings settings) {
    return mayUseSums(header, table, settings) && !header.dtype().isHalf()
        ? of(
            header,
            table,
            settings.partials(),
            0,
            DeviceFoldCall.chunkBytes(settings.chunkBytes()),
            Long.MAX_VALUE)
        : ADDENDS;
  }

  private static boolean mayUseSums(CallHeader header, RankTable table, EngineSettings settings) {
    return settings.partials() != PartialsRule.NEVER
        && header.kind() == CallKind.ALL_REDUCE
        && header.count() > 0
        && table.tasks() > 1
        && table.world() > table.tasks();
  }

  private static PartialPlan of(
      CallHeader header,
      RankTable table,
      PartialsRule rule,
      long smallBytes,
      int chunkBytes,
      long mostScratchBytes) {
    boolean isAuto = rule == PartialsRule.AUTO;
    long bytes = header.count() * header.dtype().bytes();
    if (isAuto && bytes <= smallBytes) {
      return ADDENDS;
    }
    DType sums = PartialFold.dtype(header.dtype());
    long sumBytes = header.count() * sums.bytes();
    int most = Subtrees.mostOnATask(table);
    if (sumBytes > mostScratchBytes / most) {
      return ADDENDS;
    }
    boolean isLeft = header.contract().order() == FoldOrder.RANK_LEFT;
    PartialPlan plan = isLeft ? CHAIN : SUBTREES;
    if (!isAuto) {
      return plan;
    }
    boolean isLong = sumBytes >= (long) CHAIN_FILLS * table.tasks() * chunkBytes;
    if (isLeft && !isLong) {
      return ADDENDS;
    }
    double ratio = (double) sums.bytes() / header.dtype().bytes();
    return arenas(plan, table, ratio, most) < arenas(ADDENDS, table, ratio, most) ? plan : ADDENDS;
  }

  /** What the busiest task sends. */
  private static double arenas(PartialPlan plan, RankTable table, double ratio, int most) {
    int tasks = table.tasks();
    double others = (tasks - 1.0) / tasks;
    return switch (plan) {
      case ADDENDS -> (table.rankCount(0) + 1) * others;
      case CHAIN -> tasks == 2 ? Math.max(ratio, 1) : ratio + 1;
      case SUBTREES -> (most * ratio + 1) * others;
    };
  }
}
