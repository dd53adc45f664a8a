// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import org.rankfold.InternalApi;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.memory.Arena;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.transport.sharedmemory.SharedSegment;

/**
 * How much memory a group will take, from what its user declares: one arena of each declared kind
 * for every logical rank, and the slots of staged pairs.
 *
 * @param arenas what is declared
 */
@InternalApi
public record MemoryPlan(List<ArenaKind> arenas) implements Serializable {
  private static final int CHUNKS_IN_FLIGHT = 2;

  /**
   * An arena every logical rank will allocate.
   *
   * @param dtype the element type
   * @param count elements
   */
  public record ArenaKind(DType dtype, long count) implements Serializable {
    /**
     * A checked kind.
     *
     * @param dtype the element type
     * @param count at least 0
     */
    public ArenaKind {
      if (count < 0) {
        throw CollectiveException.usage(ErrorCode.INVALID_ARGUMENT, "count=%d < 0", count);
      }
    }

    /** As {@link Arena#allocate} pads. */
    private double bytes(int shards) {
      long align = Arena.ALIGNMENT_BYTES / dtype.bytes();
      double shard = Math.ceil((double) count / shards);
      double padded = Math.ceil(shard / align) * align * shards;
      return padded * dtype.bytes() + Arena.ALIGNMENT_BYTES;
    }
  }

  /**
   * A plan with a copy of the list.
   *
   * @param arenas what is declared
   */
  public MemoryPlan {
    arenas = List.copyOf(arenas);
  }

  /**
   * Whether nothing is declared: then only slots are counted.
   *
   * @return true without arenas
   */
  public boolean isEmpty() {
    return arenas.isEmpty();
  }

  /**
   * Refuses a group whose tasks in one process would take more than the process may.
   *
   * @param who the process, for the message
   * @param table who hosts what
   * @param tasks the tasks that live in the process
   * @param config path and chunk
   * @param limits the process's
   * @param isShared whether arenas and slots lie in shared segments, which the JVM's limit of
   *     direct memory does not count but the container's does
   * @throws CollectiveException TOO_LITTLE_MEMORY with the numbers
   */
  public void require(
      String who,
      RankTable table,
      List<Integer> tasks,
      GroupConfig config,
      MemoryLimits limits,
      boolean isShared) {
    double arenaBytes = 0;
    double slotBytes = 0;
    long ranks = 0;
    for (int task : tasks) {
      ranks += table.rankCount(task);
      for (ArenaKind kind : arenas) {
        arenaBytes += table.rankCount(task) * kind.bytes(table.tasks());
      }
      if (config.pathRule() != PathRule.MAPPED) {
        double slots = (table.rankCount(task) + 1.0) * CHUNKS_IN_FLIGHT;
        slotBytes += slots * (table.tasks() - 1) * config.engine().chunkBytes();
      }
    }
    double direct = arenaBytes + slotBytes;
    String plan =
        String.format(
            Locale.ROOT,
            "%s: arenas of %d logical ranks %s + slots %s = %s",
            who,
            ranks,
            mib(arenaBytes),
            mib(slotBytes),
            mib(direct));
    if (!isShared && direct > limits.directFreeBytes()) {
      throw CollectiveException.usage(
          ErrorCode.TOO_LITTLE_MEMORY,
          "%s > %s of free direct memory; raise -XX:MaxDirectMemorySize, or -Xmx, which it follows",
          plan,
          mib((double) limits.directFreeBytes()));
    }
    if (!isEmpty()
        && limits.containerBytes() >= 0
        && direct + limits.heapMaxBytes() > limits.containerBytes()) {
      throw CollectiveException.usage(
          ErrorCode.TOO_LITTLE_MEMORY,
          "%s, with the heap's %s > the container's %s; raise spark.executor.memoryOverhead or lower"
              + " the heap",
          plan,
          mib((double) limits.heapMaxBytes()),
          mib((double) limits.containerBytes()));
    }
  }

  /**
   * What a group whose tasks all live on one host takes of its shared memory: every arena, and
   * slots for every pair, since any call may bring memory that has to be staged.
   *
   * @param table who hosts what
   * @param config the chunk
   * @return bytes, an upper bound but for the boards, which exist already
   */
  public long sharedBytes(RankTable table, GroupConfig config) {
    double bytes = 0;
    for (int task = 0; task < table.tasks(); task++) {
      for (ArenaKind kind : arenas) {
        bytes += table.rankCount(task) * kind.bytes(table.tasks());
      }
      bytes += SharedSegment.slotBytes(table, task, config.engine().chunkBytes());
    }
    return (long) bytes;
  }

  private static String mib(double bytes) {
    return String.format(Locale.ROOT, "%.1f MiB", bytes / (1 << 20));
  }
}
