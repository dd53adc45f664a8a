// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Which task hosts which logical ranks: contiguous ascending blocks whose sizes differ by at most
 * one, larger blocks first.
 *
 * @param world logical ranks, L
 * @param tasks tasks, T, from 1 to L
 */
public record RankTable(int world, int tasks) {
  /**
   * A checked table.
   *
   * @param world at least 1
   * @param tasks from 1 to world
   * @throws CollectiveException INVALID_WORLD when world or tasks are below 1 or tasks above world
   */
  public RankTable {
    if (world < 1) {
      throw CollectiveException.usage(ErrorCode.INVALID_WORLD, "world=%d < 1", world);
    }
    if (tasks < 1) {
      throw CollectiveException.usage(ErrorCode.INVALID_WORLD, "tasks=%d < 1", tasks);
    }
    if (tasks > world) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_WORLD,
          "tasks=%d > world=%d: every task hosts at least one logical rank",
          tasks,
          world);
    }
  }

  /**
   * The first logical rank of a task.
   *
   * @param task from 0 to tasks; at tasks it is the world
   * @return a logical rank
   */
  public int firstRank(int task) {
    int small = world / tasks;
    return task * small + Math.min(task, world % tasks);
  }

  /**
   * How many logical ranks a task hosts.
   *
   * @param task from 0
   * @return ranks, at least 1
   */
  public int rankCount(int task) {
    return firstRank(task + 1) - firstRank(task);
  }

  /**
   * The task that hosts a logical rank.
   *
   * @param rank from 0, below the world
   * @return a task
   */
  public int taskOf(int rank) {
    int small = world / tasks;
    int large = world % tasks;
    int inLarge = large * (small + 1);
    return rank < inLarge ? rank / (small + 1) : large + (rank - inLarge) / small;
  }

  /**
   * A task and its ranks, for messages.
   *
   * @param task from 0
   * @return for example {@code logical ranks 2..3 (task 1)}
   */
  public String describe(int task) {
    int first = firstRank(task);
    int count = rankCount(task);
    return count == 1
        ? "logical rank " + first + " (task " + task + ")"
        : "logical ranks " + first + ".." + (first + count - 1) + " (task " + task + ")";
  }
}
