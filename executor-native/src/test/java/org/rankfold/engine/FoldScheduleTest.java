// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;
import org.rankfold.transport.RankTable;

class FoldScheduleTest {
  @Test
  void shouldFoldEveryElementExactlyOnceWhateverTheSizes() {
    for (DType dtype : DType.values()) {
      for (int tasks = 1; tasks <= 6; tasks++) {
        for (int count : new int[] {0, 1, 2, 5, 15, 16, 17, 63, 64, 65, 1000}) {
          for (int chunkBytes : new int[] {1, 8, 64, 100, 4096}) {
            RankTable table = new RankTable(8, tasks);
            assertCovers(FoldSchedule.shards(table, dtype, count, chunkBytes), table, count);
            int whole = count / 8 * 8;
            assertCovers(FoldSchedule.parts(table, dtype, whole, chunkBytes), table, whole);
          }
        }
      }
    }
  }

  @Test
  void shouldStartShardsOnCacheLinesWhenTheyAreLongEnough() {
    RankTable table = new RankTable(3, 3);
    FoldSchedule schedule = FoldSchedule.shards(table, DType.F32, 100, 4096);
    assertEquals(48, schedule.from(1, 0));
    assertEquals(96, schedule.from(2, 0));
    assertEquals(4, schedule.length(2, 0));
  }

  @Test
  void shouldKeepPartsToTheirRanksWhenScattered() {
    RankTable table = new RankTable(5, 2);
    FoldSchedule schedule = FoldSchedule.parts(table, DType.I64, 50, 32);
    assertEquals(9, schedule.chunks(0));
    assertEquals(6, schedule.chunks(1));
    assertEquals(3, schedule.part(1, 0));
    assertEquals(4, schedule.part(1, 3));
    assertEquals(8, schedule.fromInPart(5));
    assertEquals(48, schedule.from(1, 5));
    assertEquals(2, schedule.length(1, 5));
  }

  private static void assertCovers(FoldSchedule schedule, RankTable table, int count) {
    BitSet seen = new BitSet();
    for (int task = 0; task < table.tasks(); task++) {
      assertTrue(schedule.chunks(task) <= schedule.mostChunks());
      for (int chunk = 0; chunk < schedule.chunks(task); chunk++) {
        long from = schedule.from(task, chunk);
        long length = schedule.length(task, chunk);
        assertTrue(length > 0);
        assertEquals(0, seen.get((int) from, (int) (from + length)).cardinality());
        seen.set((int) from, (int) (from + length));
      }
    }
    assertEquals(count, seen.cardinality());
  }
}
