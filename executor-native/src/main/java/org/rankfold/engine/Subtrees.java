// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.transport.RankTable;

/** The largest subtrees of RANK_TREE's fold whose logical ranks all live on one task. */
final class Subtrees {
  /**
   * One of them.
   *
   * @param low its first logical rank
   * @param high one past its last
   */
  record Subtree(int low, int high) {
    int ranks() {
      return high - low;
    }

    @Override
    public String toString() {
      return "logical ranks " + low + " to " + (high - 1);
    }
  }

  private Subtrees() {}

  /** All of them in rank order; those of a task follow one another. */
  static List<Subtree> of(RankTable table) {
    List<Subtree> found = new ArrayList<>();
    collect(table, 0, table.world(), found);
    return found;
  }

  private static void collect(RankTable table, int low, int high, List<Subtree> found) {
    if (isWhole(table, low, high)) {
      found.add(new Subtree(low, high));
    } else {
      int middle = middle(low, high);
      collect(table, low, middle, found);
      collect(table, middle, high, found);
    }
  }

  /** Whether one task hosts all these ranks. */
  static boolean isWhole(RankTable table, int low, int high) {
    return table.taskOf(low) == table.taskOf(high - 1);
  }

  /** Where the contract divides a fold of more than one rank. */
  static int middle(int low, int high) {
    return low + Integer.highestOneBit(high - low - 1);
  }

  /** The most that any task has. */
  static int mostOnATask(RankTable table) {
    int[] counts = new int[table.tasks()];
    int most = 0;
    for (Subtree subtree : of(table)) {
      most = Math.max(most, ++counts[table.taskOf(subtree.low())]);
    }
    return most;
  }
}
