// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes killed, stopped and out of memory: a named error on every task, in time. */
@Timeout(300)
class SharedMemoryFaultIT {
  private static final long KILL_BOUND_NS = TimeUnit.SECONDS.toNanos(2);

  @AfterEach
  void shouldLeaveNoFile() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
      assertThat(files.filter(file -> file.getFileName().toString().startsWith("rankfold-")))
          .isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"arena 3000000", "heap 3000000", "oneheap 3000000", "arena 100"})
  void shouldFailEverySurvivorInTimeWhenATaskIsKilledInACollective(String work) {
    try (RankProcesses ranks = new RankProcesses(4)) {
      ranks.open(5);
      String[] words = work.split(" ", -1);
      ranks.expectAll("started", "work " + words[0] + " endless " + words[1]);
      pause(300);
      long killedNs = System.nanoTime();
      ranks.signal(2, "KILL");
      for (int task : new int[] {0, 1, 3}) {
        String answer = ranks.answer(task);
        long tookNs = System.nanoTime() - killedNs;
        System.out.println(work + ", killed: task " + task + " after " + tookNs / 1000000 + " ms");
        assertThat(answer)
            .startsWith("error PEER_FAILED")
            .contains("logical rank 3 (task 2) died: its process " + ranks.pid(2) + " is gone");
        assertThat(tookNs).isLessThan(KILL_BOUND_NS);
      }
      endWithoutTask2(ranks);
    }
  }

  @Test
  void shouldFailTheNextCallWhenATaskIsKilledBetweenCalls() {
    try (RankProcesses ranks = new RankProcesses(4)) {
      ranks.open(4);
      ranks.tellAll("work arena once 1000");
      assertThat(ranks.answers()).doesNotContain("").hasSize(4);
      ranks.signal(2, "KILL");
      for (int task : new int[] {0, 1, 3}) {
        long startNs = System.nanoTime();
        ranks.tell(task, "work arena once 1000");
        assertThat(ranks.answer(task)).startsWith("error PEER_FAILED");
        assertThat(System.nanoTime() - startNs).isLessThan(KILL_BOUND_NS);
      }
      endWithoutTask2(ranks);
    }
  }

  private static void endWithoutTask2(RankProcesses ranks) {
    for (int task : new int[] {0, 1, 3}) {
      ranks.tell(task, "close");
      assertEquals("ok", ranks.answer(task));
      ranks.tell(task, "leaks");
      assertEquals("none", ranks.answer(task));
    }
  }

  @Test
  void shouldFailEveryTaskWithTheFirstCauseWhenOneAborts() {
    try (RankProcesses ranks = new RankProcesses(3)) {
      ranks.open(3);
      ranks.tell(0, "work arena once 100000");
      ranks.tell(1, "work heap once 100000");
      ranks.tell(2, "abort lost-my-data");
      assertEquals("ok", ranks.answer(2));
      for (int task = 0; task < 2; task++) {
        assertThat(ranks.answer(task))
            .startsWith("error USER_CODE_FAILED UNTOUCHED")
            .contains("task 2", "lost-my-data");
      }
      ranks.closeGroup();
      ranks.open(3);
      ranks.tellAll("work arena once 1000");
      List<String> sums = ranks.answers();
      assertEquals(Collections.nCopies(3, sums.get(0)), sums);
      ranks.closeGroup();
      ranks.expectAll("none", "leaks");
    }
  }

  @Test
  void shouldFailByThePeerTimeoutWhenATaskIsStopped() {
    try (RankProcesses ranks = new RankProcesses(3)) {
      ranks.set("spark.rankfold.timeout.peer", "2s");
      ranks.open(3);
      ranks.signal(1, "STOP");
      long stoppedNs = System.nanoTime();
      for (int task : new int[] {0, 2}) {
        ranks.tell(task, "work arena once 100000");
      }
      for (int task : new int[] {0, 2}) {
        String answer = ranks.answer(task);
        long tookNs = System.nanoTime() - stoppedNs;
        System.out.println("stopped: task " + task + " after " + tookNs / 1000000 + " ms");
        assertThat(answer)
            .startsWith("error PEER_FAILED UNTOUCHED")
            .contains("logical rank 1 (task 1) is silent", "has given no sign of life for");
        assertThat(tookNs).isBetween(TimeUnit.SECONDS.toNanos(1), TimeUnit.SECONDS.toNanos(4));
      }
      ranks.signal(1, "CONT");
      ranks.tell(1, "work arena once 100000");
      assertThat(ranks.answer(1)).startsWith("error PEER_FAILED");
    }
  }

  /** A stopped process may be inside memory that it would write when it goes on. */
  @Test
  void shouldFailByThePeerTimeoutWhenATaskIsStoppedInACollective() {
    try (RankProcesses ranks = new RankProcesses(3)) {
      ranks.set("spark.rankfold.timeout.peer", "2s");
      ranks.set("spark.rankfold.timeout.exit", "1s");
      ranks.open(3);
      ranks.expectAll("started", "work arena endless 3000000");
      pause(300);
      long stoppedNs = System.nanoTime();
      ranks.signal(1, "STOP");
      for (int task : new int[] {0, 2}) {
        String answer = ranks.answer(task);
        long tookNs = System.nanoTime() - stoppedNs;
        System.out.println("stopped in a call: task " + task + " after " + tookNs / 1000000);
        assertThat(answer)
            .containsAnyOf("error PEER_FAILED", "error MEMORY_STILL_BORROWED")
            .doesNotContain("UNTOUCHED");
        assertThat(tookNs).isBetween(TimeUnit.SECONDS.toNanos(1), TimeUnit.SECONDS.toNanos(5));
      }
    }
  }

  /** Signs of life come while a task is in its own code for longer than the peer timeout. */
  @Test
  void shouldNotFailWhenATaskIsBusyForLongerThanThePeerTimeout() {
    try (RankProcesses ranks = new RankProcesses(2)) {
      ranks.set("spark.rankfold.timeout.peer", "1s");
      ranks.open(2);
      ranks.tell(0, "work arena once 100000");
      pause(2500);
      ranks.tell(1, "work arena once 100000");
      List<String> sums = ranks.answers();
      assertThat(sums.get(0)).hasSize(64);
      assertEquals(sums.get(0), sums.get(1));
    }
  }

  @Test
  void shouldSayWhatIsNeededWhenTheFolderIsFull() throws Exception {
    Path folder = Files.createTempDirectory("rankfold-full");
    boolean isMounted = run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder.toString());
    try {
      assumeTrue(isMounted, "mounting a small tmpfs needs root");
      fillFolder(folder);
    } finally {
      if (isMounted) {
        run("umount", "-l", folder.toString());
      }
      Files.delete(folder);
    }
  }

  private static void fillFolder(Path folder) {
    try (RankProcesses ranks = new RankProcesses(2)) {
      ranks.set("spark.rankfold.sharedmemory.dir", folder);
      ranks.open(2);
      ranks.tellAll("work arena once 2000000");
      for (String answer : ranks.answers()) {
        assertThat(answer)
            .startsWith("error TOO_LITTLE_MEMORY")
            .contains("needs 8000000 bytes in " + folder, "are available");
      }
      ranks.tellAll("work heap once 100");
      List<String> sums = ranks.answers();
      assertThat(sums.get(0)).hasSize(64);
      assertEquals(sums.get(0), sums.get(1));
      ranks.tellAll("work heap once 2000000");
      for (String answer : ranks.answers()) {
        assertThat(answer).contains("a shared segment needs");
      }
      ranks.closeGroup();
    }
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).start().waitFor() == 0;
  }

  private static void pause(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
