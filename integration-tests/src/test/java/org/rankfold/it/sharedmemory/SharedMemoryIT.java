// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.digest.GoldenTable;
import org.rankfold.group.LoopbackGroup;

/** Groups of real processes over shared memory: bits on every path, and who is refused. */
@Timeout(300)
class SharedMemoryIT {
  private static final String CHUNK = "spark.rankfold.chunk.bytes";
  private static final String PATH = "spark.rankfold.path";

  private static Stream<Integer> worlds(int tasks) {
    return GoldenTable.builtIn().stream()
        .map(row -> row.contract().world())
        .distinct()
        .filter(world -> world >= tasks);
  }

  private static long rows(int world) {
    return GoldenTable.builtIn().stream().filter(row -> row.contract().world() == world).count();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void shouldGiveGoldenBitsWhateverMemoryTasksBring(int tasks) {
    try (RankProcesses ranks = new RankProcesses(tasks)) {
      worlds(tasks)
          .forEach(
              world -> {
                ranks.open(world);
                for (String memory : List.of("arena", "heap", "mixed")) {
                  ranks.expectAll("equal " + rows(world), "work " + memory + " golden");
                }
                ranks.closeGroup();
              });
      ranks.expectAll("none", "leaks");
    }
  }

  @Test
  void shouldGiveLoopbacksBitsWhateverChunkAndPath() {
    String expected =
        LoopbackGroup.of(5, 3)
            .run(
                communicator ->
                    new RankWork(communicator, Memory.HEAP).answer("work", "heap", "digest", "42"))
            .get(0);
    String other =
        LoopbackGroup.of(5, 3)
            .run(
                communicator ->
                    new RankWork(communicator, Memory.HEAP).answer("work", "heap", "digest", "43"))
            .get(0);
    assertThat(other).isNotEqualTo(expected);
    try (RankProcesses ranks = new RankProcesses(3)) {
      for (String path : List.of("auto", "staged", "mixed")) {
        for (String chunk : List.of("1000", "64k", "1m")) {
          ranks.set(PATH, path);
          ranks.set(CHUNK, chunk);
          ranks.open(5);
          for (String memory : List.of("arena", "oneheap", "mixed")) {
            ranks.expectAll(expected, "work " + memory + " digest 42");
          }
          ranks.closeGroup();
        }
      }
    }
  }

  @Test
  void shouldGiveGoldenBitsWhenChunksAreTiny() {
    try (RankProcesses ranks = new RankProcesses(2)) {
      ranks.set(CHUNK, "64");
      ranks.set(PATH, "staged");
      ranks.open(3);
      ranks.expectAll("equal " + rows(3), "work heap golden");
      ranks.closeGroup();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mixed", "arena"})
  void shouldEqualTheScalarFoldInThousandsOfDrawnCalls(String memory) {
    long seed = Long.getLong("rankfold.seed", System.nanoTime());
    try (RankProcesses ranks = new RankProcesses(3)) {
      ranks.open(4);
      ranks.expectAll("equal 3000", "work " + memory + " random 3000 " + seed);
      ranks.closeGroup();
      ranks.expectAll("none", "leaks");
    }
  }

  @Test
  void shouldLeaveNothingAndFormTheNextGroupWhenGroupsEnd() {
    try (RankProcesses ranks = new RankProcesses(2)) {
      String first = null;
      for (int group = 0; group < 20; group++) {
        ranks.open(2);
        ranks.tellAll("work arena once 2000000");
        List<String> answers = ranks.answers();
        first = first == null ? answers.get(0) : first;
        assertEquals(Collections.nCopies(2, first), answers);
        ranks.closeGroup();
      }
      ranks.expectAll("none", "leaks");
    }
  }

  @Test
  void shouldFormAGroupWhoseTasksLeaveAtOnce() {
    try (RankProcesses ranks = new RankProcesses(3)) {
      for (int group = 0; group < 20; group++) {
        ranks.tellOpen(ranks.prepare(3));
        ranks.tellAll("close");
        assertEquals(List.of("ok", "ok", "ok"), ranks.answers());
        assertEquals(List.of("ok", "ok", "ok"), ranks.answers());
      }
    }
  }

  /** The root has no answer to wait for: its files may be gone before the others look. */
  @Test
  void shouldGiveTheRootsElementsWhenItLeavesAtOnce() {
    try (RankProcesses ranks = new RankProcesses(3)) {
      for (int group = 0; group < 20; group++) {
        ranks.open(3);
        ranks.tell(0, "workandclose arena broadcast 100");
        ranks.tell(1, "workandclose heap broadcast 100");
        ranks.tell(2, "workandclose heap broadcast 100");
        List<String> answers = ranks.answers();
        assertThat(answers.get(0)).hasSize(64);
        assertEquals(Collections.nCopies(3, answers.get(0)), answers);
      }
    }
  }

  @Test
  void shouldRefuseByNameWhenARowIsOfAnotherTimeUserOrHost() {
    try (RankProcesses ranks = new RankProcesses(2)) {
      List<String> rows = ranks.prepare(2);
      String[] row = rows.get(1).split(" ", -1);
      ranks.tell(1, "giveup");
      assertEquals("ok", ranks.answer(1));
      refuse(ranks, rows, rows.get(1), "BOOTSTRAP_FAILED", "has closed its segment");
      refuse(ranks, with(row, 2, "7"), "STALE_GROUP", "start=7, is gone");
      refuse(ranks, with(row, 3, "elsewhere"), "BOOTSTRAP_FAILED", "another host");
      refuse(ranks, with(row, 4, "pid:[1]"), "BOOTSTRAP_FAILED", "another container");
      refuse(ranks, with(row, 5, "65534"), "BOOTSTRAP_FAILED", "user=65534 != ");
      refuse(ranks, with(row, 8, "00000000000000ff"), "STALE_GROUP", "nonce=");
      refuse(ranks, "shm2 what", "BOOTSTRAP_FAILED", "is no row of a shared segment");
    }
  }

  /** A descriptor that is open in the peer but is no board of Rankfold's. */
  @Test
  void shouldRefuseAFileThatIsNoBoard() {
    try (RankProcesses ranks = new RankProcesses(2)) {
      String[] row = ranks.prepare(2).get(1).split(" ", -1);
      ranks.expectAll("ok", "giveup");
      List<String> rows = ranks.prepare(2);
      String[] current = rows.get(1).split(" ", -1);
      assertEquals(row[7], current[7]);
      // Descriptor 0 is a pipe.
      refuse(
          ranks,
          rows,
          with(current, 6, "0"),
          "BOOTSTRAP_FAILED",
          "logical rank 1 (task 1), process " + ranks.pid(1));
    }
  }

  @Test
  void shouldRefuseAPeerThatHasJoinedAnotherGroup() {
    try (RankProcesses ranks = new RankProcesses(2)) {
      List<String> rows = ranks.prepare(2);
      ranks.tell(1, "epoch another");
      assertEquals("ok", ranks.answer(1));
      ranks.tellOpen(rows);
      for (String answer : ranks.answers()) {
        assertThat(answer).startsWith("error STALE_GROUP").contains("has joined group=");
      }
    }
  }

  private static String with(String[] row, int field, String value) {
    String[] other = row.clone();
    other[field] = value;
    return String.join(" ", other);
  }

  /** Task 1's row of a fresh group, with the fields of a wrong one where that is wrong. */
  private static void refuse(RankProcesses ranks, String wrong, String code, String text) {
    List<String> rows = ranks.prepare(2);
    String[] fields = wrong.split(" ", -1);
    String[] right = rows.get(1).split(" ", -1);
    for (int i = 0; i < right.length && i < fields.length; i++) {
      boolean isOfTheSegment = i == 6 || i == 7;
      fields[i] = isOfTheSegment ? right[i] : fields[i];
    }
    refuse(ranks, rows, String.join(" ", fields), code, text);
  }

  private static void refuse(
      RankProcesses ranks, List<String> rows, String wrong, String code, String text) {
    ranks.tellOpen(0, List.of(rows.get(0), wrong));
    assertThat(ranks.answer(0)).startsWith("error " + code).contains(text);
    ranks.tell(1, "giveup");
    assertEquals("ok", ranks.answer(1));
  }
}
