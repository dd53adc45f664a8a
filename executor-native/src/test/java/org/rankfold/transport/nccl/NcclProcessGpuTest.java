// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.digest.GoldenTable;

/**
 * NCCL between processes that share one device: bits, mistakes that must show, a process killed, a
 * process stopped, tasks that never come, many calls.
 */
@Tag("gpu")
@Tag("nccl")
@Timeout(120)
class NcclProcessGpuTest {
  private static final long BOUND_MS = 2000;

  @TempDir private Path folder;
  private RankProcesses ranks;

  @BeforeEach
  void requireDevice() {
    NcclLibrary library = NcclLibrary.process();
    if (!library.isAvailable()) {
      if (Boolean.getBoolean("rankfold.gpu.required")) {
        fail("rankfold.gpu.required, but " + library.reason());
      }
      System.out.println("SKIPPED: " + library.reason());
      Assumptions.abort(library.reason());
    }
    System.out.println(library.describe());
    ranks = new RankProcesses(folder);
  }

  @AfterEach
  void endProcesses() {
    if (ranks != null) {
      ranks.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 4})
  void shouldReachEveryGoldenRowWhenBytesMoveByNccl(int tasks) throws Exception {
    run(tasks, "golden", 0, 100);
    for (int task = 0; task < tasks; task++) {
      print(tasks, task, "ROWS", "LEFT", "WRONG");
      assertThat(ranks.lines(task, "ROWS"))
          .containsExactly(
              "ROWS GATHER ok=" + rows(tasks) + " wrong=0",
              "ROWS SENDS ok=" + rows(tasks) + " wrong=0");
      assertThat(ranks.lines(task, "LEFT")).allMatch(line -> line.contains(" threads=0 "));
      // Set from inside the process: it was not in what the process was started with.
      assertThat(Files.readString(ranks.debug(task).toPath()))
          .contains("NCCL_SOCKET_IFNAME set to =lo")
          .contains("NET/Socket");
    }
  }

  @Test
  void shouldMissGoldenRowsWhenATaskSendsTheWrongShards() throws Exception {
    run(3, "swapped", 0, 100);
    for (int task = 0; task < 3; task++) {
      print(3, task, "ROWS");
      String[] said = ranks.lines(task, "ROWS").get(0).split("[ =]", -1);
      assertThat(Integer.parseInt(said[2])).isEqualTo(rows(3));
      // Rows of few elements lie in the first shard alone, and bits may agree by chance.
      assertThat(Integer.parseInt(said[4])).isGreaterThan(rows(3) / 2);
    }
  }

  @Test
  void shouldEndEveryTaskWhenASendIsDropped() throws Exception {
    run(3, "dropped", 0, 60);
    for (int task = 0; task < 3; task++) {
      print(3, task, "BEFORE", "FIRST", "LOST", "DONE", "ABORTED", "LEFT", "NEXT");
      assertThat(ranks.lines(task, "FIRST")).containsExactly("FIRST true");
      assertThat(ranks.lines(task, "DONE")).isEmpty();
      assertThat(ranks.lines(task, "LOST"))
          .singleElement()
          .asString()
          .matches("LOST after_ms=[0-9]+ (TIMEOUT|PEER_FAILED) .*");
      assertThat(number(ranks.lines(task, "LOST").get(0), "after_ms")).isLessThan(3000 + BOUND_MS);
      assertSurvived(task);
    }
  }

  /** The first exchange of two tasks connects them, and waits for both: the latch ends that too. */
  @Test
  void shouldEndEveryTaskWhenTheLatchTripsWhileConnecting() throws Exception {
    ranks.start(3, "early", 0);
    for (int task = 0; task < 3; task++) {
      ranks.awaitLine(task, "RUNNING", 60);
    }
    // Not one of them can have ended before its latch trips: what it says first is checked below.
    for (int task = 0; task < 3; task++) {
      ranks.awaitWaiting(task, 60);
    }
    for (int task = 0; task < 3; task++) {
      ranks.trip(task);
    }
    for (int task = 0; task < 3; task++) {
      ranks.awaitEnd(task, 60);
      print(3, task, "BEFORE", "LOST", "DONE", "ABORTED", "LEFT", "NEXT");
      assertThat(ranks.lines(task, "LOST").get(0)).contains(" PEER_FAILED ");
      assertThat(number(ranks.lines(task, "ABORTED").get(0), "since_trip_ms")).isLessThan(BOUND_MS);
      assertThat(ranks.lines(task, "NEXT")).containsExactly("NEXT true");
      // NCCL 2.28 leaves the sockets of connections that were half made; its threads end.
      assertThat(ranks.lines(task, "LEFT")).allMatch(line -> number(line, "threads") == 0);
    }
  }

  @Test
  void shouldEndEverySurvivorAndFormTheNextGroupWhenAProcessIsKilled() throws Exception {
    int tasks = 4;
    startRunning(tasks);
    long killedMs = System.currentTimeMillis();
    ranks.signal("KILL", tasks - 1);
    ranks.awaitGone(tasks - 1, 10);
    for (int task = 0; task < tasks - 1; task++) {
      // Whoever does not find out by itself is told by the control, as by a transport's clock.
      if (!ranks.says(task, "LOST", BOUND_MS)) {
        ranks.trip(task);
      }
    }
    for (int task = 0; task < tasks - 1; task++) {
      ranks.awaitEnd(task, 60);
      print(tasks, task, "BEFORE", "LOST", "ABORTED", "LEFT", "NEXT", "TRIPPED");
      String lost = ranks.lines(task, "LOST").get(0);
      System.out.println(
          "tasks="
              + tasks
              + " task="
              + task
              + " killed, lost after ms="
              + (number(lost, "at_ms") - killedMs));
      assertThat(lost).contains(" PEER_FAILED ");
      assertThat(number(lost, "at_ms") - killedMs).isLessThan(BOUND_MS);
      assertSurvived(task);
    }
  }

  @Test
  void shouldEndEverySurvivorAndFormTheNextGroupWhenAProcessIsStopped() throws Exception {
    int tasks = 3;
    startRunning(tasks);
    ranks.signal("STOP", tasks - 1);
    for (int task = 0; task < tasks - 1; task++) {
      ranks.awaitWaiting(task, 60);
    }
    tripSurvivors(tasks);
    for (int task = 0; task < tasks - 1; task++) {
      ranks.awaitLine(task, "NEXT true", 60);
      ranks.awaitEnd(task, 60);
      print(tasks, task, "BEFORE", "LOST", "ABORTED", "LEFT", "NEXT", "TRIPPED");
      assertThat(ranks.lines(task, "LOST").get(0)).contains("said the control");
      assertThat(number(ranks.lines(task, "ABORTED").get(0), "since_trip_ms")).isLessThan(BOUND_MS);
      assertSurvived(task);
    }
  }

  @Test
  void shouldLeaveNoThreadWhenOthersNeverCome() throws Exception {
    ranks.start(3, 0, "lonely", 0);
    ranks.awaitEnd(0, 60);
    print(3, 0, "BEFORE", "FORGOT", "LOST", "OPEN", "LEFT");
    String before = ranks.lines(0, "BEFORE").get(0).substring(7);
    assertThat(ranks.lines(0, "FORGOT")).containsExactly("FORGOT " + before);
    assertThat(ranks.lines(0, "LOST"))
        .hasSize(3)
        .allMatch(line -> line.endsWith(" TIMEOUT") && number(line, "after_ms") < 2000 + BOUND_MS);
    String left = ranks.lines(0, "LEFT").get(0);
    assertThat(number(left, "threads")).isEqualTo(number(before, "threads"));
    // NCCL 2.28 does not close the two sockets on which it waits for its peers when it is aborted.
    assertThat(number(left, "sockets"))
        .isBetween(number(before, "sockets"), number(before, "sockets") + 6);
  }

  @Test
  @Timeout(400)
  void shouldKeepDeviceMemoryFlatWhenThereAreManyCalls() throws Exception {
    int many = Integer.getInteger("rankfold.nccl.exchanges", 1000);
    long nativeKb = Math.max(16 << 10, many);
    run(3, "many", many, 100 + many / 50);
    for (int task = 0; task < 3; task++) {
      print(3, task, "FREE", "MANY");
      List<String> free = ranks.lines(task, "FREE");
      // Tasks look at slightly different times, when another may not have ended its last call.
      assertThat(number(free.get(0), "mib") - number(free.get(1), "mib")).isLessThan(32);
      assertThat(number(free.get(1), "VmRSS_kb") - number(free.get(0), "VmRSS_kb"))
          .isLessThan(nativeKb);
      assertThat(ranks.lines(task, "MANY").get(0)).contains(" wrong=0 ");
    }
  }

  private void startRunning(int tasks) throws Exception {
    ranks.start(tasks, "fault", 0);
    for (int task = 0; task < tasks; task++) {
      ranks.awaitLine(task, "RUNNING", 60);
    }
  }

  private void tripSurvivors(int tasks) throws Exception {
    for (int task = 0; task < tasks - 1; task++) {
      ranks.trip(task);
    }
  }

  private void assertSurvived(int task) throws Exception {
    assertThat(number(ranks.lines(task, "ABORTED").get(0), "in_ms")).isLessThan(BOUND_MS);
    assertThat(ranks.lines(task, "NEXT")).containsExactly("NEXT true");
    String before = ranks.lines(task, "BEFORE").get(0).substring(7);
    assertThat(ranks.lines(task, "LEFT")).allMatch(line -> line.substring(5).equals(before));
  }

  private void run(int tasks, String scenario, int many, long seconds) throws Exception {
    ranks.start(tasks, scenario, many);
    for (int task = 0; task < tasks; task++) {
      ranks.awaitEnd(task, seconds);
    }
  }

  private void print(int tasks, int task, String... words) throws Exception {
    for (String line : ranks.lines(task)) {
      if (List.of(words).contains(line.split(" ", 2)[0])) {
        System.out.println("tasks=" + tasks + " task=" + task + " " + line);
      }
    }
  }

  private static int rows(int world) {
    return (int)
        GoldenTable.builtIn().stream().filter(row -> row.contract().world() == world).count();
  }

  private static long number(String line, String key) {
    int from = line.indexOf(key + "=") + key.length() + 1;
    int to = from;
    while (to < line.length() && Character.isDigit(line.charAt(to))) {
      to++;
    }
    return Long.parseLong(line.substring(from, to));
  }
}
