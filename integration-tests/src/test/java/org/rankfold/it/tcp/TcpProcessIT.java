// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups of real processes: bits, a process killed, a process stopped. */
@Timeout(300)
class TcpProcessIT {
  private static final int TASKS = 3;

  @TempDir private Path folder;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() {
    processes.forEach(Process::destroyForcibly);
  }

  @ParameterizedTest
  @CsvSource({"127.0.0.1, 2", "::1, 3", "127.0.0.1, 4"})
  void shouldGiveTheGoldenBits(String host, int tasks) throws Exception {
    start(host, tasks, "golden");
    long rows =
        GoldenRanks.worlds().stream()
            .filter(world -> world >= tasks)
            .mapToLong(world -> GoldenRanks.rows(world, 3).size())
            .sum();
    for (int task = 0; task < tasks; task++) {
      awaitEnd(task);
      assertEquals(List.of("EQUAL " + rows, "LEFT threads=0 sockets=0"), lines(task));
    }
  }

  @Test
  void shouldEndEverySurvivorWithinTwoSecondsWhenAProcessIsKilled() throws Exception {
    start("127.0.0.1", TASKS, "fault");
    for (int task = 0; task < TASKS; task++) {
      awaitLine(task, "RUNNING");
    }
    long killedMs = System.currentTimeMillis();
    processes.get(TASKS - 1).destroyForcibly();
    assertSurvivors(killedMs, 2000, "closed its connection without leaving");
  }

  @Test
  void shouldEndEverySurvivorWithinThePeerTimeoutWhenAProcessIsStopped() throws Exception {
    start("127.0.0.1", TASKS, "fault");
    for (int task = 0; task < TASKS; task++) {
      awaitLine(task, "RUNNING");
    }
    long stoppedMs = System.currentTimeMillis();
    signal("STOP", processes.get(TASKS - 1));
    assertSurvivors(stoppedMs, 4000, "has been silent for");
  }

  private void assertSurvivors(long faultMs, long boundMs, String what) throws Exception {
    for (int task = 0; task < TASKS - 1; task++) {
      awaitEnd(task);
      List<String> lines = lines(task);
      assertThat(lines).hasSize(4);
      String[] lost = lines.get(1).split(" ", 4);
      assertEquals("LOST", lost[0]);
      long tookMs = Long.parseLong(lost[1]) - faultMs;
      System.out.println("task " + task + ": " + what + " after " + tookMs + " ms");
      assertTrue(tookMs < boundMs, "task=" + task + " took " + tookMs + " ms");
      assertEquals("PEER_FAILED", lost[2]);
      assertThat(lost[3]).contains("logical rank 2 (task 2) at 127.0.0.1:", what);
      assertEquals("NEXT 2.0", lines.get(2));
      assertEquals("LEFT threads=0 sockets=0", lines.get(3));
    }
  }

  private void start(String host, int tasks, String scenario) throws IOException {
    for (int task = 0; task < tasks; task++) {
      processes.add(
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx512m",
                  "-cp",
                  System.getProperty("java.class.path"),
                  TcpRankMain.class.getName(),
                  folder.toString(),
                  host,
                  Integer.toString(tasks),
                  Integer.toString(task),
                  scenario)
              .redirectErrorStream(true)
              .redirectOutput(output(task))
              .start());
    }
  }

  private File output(int task) {
    return folder.resolve("out-" + task).toFile();
  }

  private List<String> lines(int task) throws IOException {
    return Files.readAllLines(output(task).toPath());
  }

  private void awaitLine(int task, String line) throws Exception {
    long startNs = System.nanoTime();
    while (!lines(task).contains(line)) {
      assertTrue(processes.get(task).isAlive(), () -> "task=" + task + " ended");
      assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(120), "no " + line);
      Thread.sleep(10);
    }
  }

  private void awaitEnd(int task) throws Exception {
    assertTrue(processes.get(task).waitFor(200, TimeUnit.SECONDS), "task=" + task + " goes on");
    assertEquals(0, processes.get(task).exitValue(), () -> "task=" + task + ": " + safeLines(task));
  }

  private String safeLines(int task) {
    try {
      return String.join(System.lineSeparator(), lines(task));
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static void signal(String name, Process process) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertEquals(0, kill.waitFor());
  }
}
