// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class RankTableTest {
  @Test
  void shouldDealContiguousBlocksWithLargerOnesFirstWhenTheyCannotBeEqual() {
    RankTable table = new RankTable(8, 3);
    assertEquals("logical ranks 0..2 (task 0)", table.describe(0));
    assertEquals("logical ranks 3..5 (task 1)", table.describe(1));
    assertEquals("logical ranks 6..7 (task 2)", table.describe(2));
  }

  @Test
  void shouldPlaceEveryRankOnceWhateverTheNumberOfTasks() {
    for (int world = 1; world <= 40; world++) {
      for (int tasks = 1; tasks <= world; tasks++) {
        RankTable table = new RankTable(world, tasks);
        int next = 0;
        for (int task = 0; task < tasks; task++) {
          assertEquals(next, table.firstRank(task));
          assertTrue(table.rankCount(task) >= 1);
          assertTrue(table.rankCount(0) - table.rankCount(task) <= 1);
          for (int r = 0; r < table.rankCount(task); r++) {
            assertEquals(task, table.taskOf(next++));
          }
        }
        assertEquals(world, next);
      }
    }
  }

  @Test
  void shouldStateBothValuesWhenTheWorldIsImpossible() {
    assertRefused(0, 1, "world=0 < 1");
    assertRefused(4, 0, "tasks=0 < 1");
    assertRefused(2, 3, "tasks=3 > world=2: every task hosts at least one logical rank");
  }

  private static void assertRefused(int world, int tasks, String message) {
    CollectiveException e =
        assertThrows(CollectiveException.class, () -> new RankTable(world, tasks));
    assertEquals(ErrorCode.INVALID_WORLD, e.code());
    assertEquals(message, e.getMessage());
  }
}
