// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rankfold.it.net.Place;

/**
 * Nothing grows. What a process holds after a while is compared with what it holds at the end:
 * threads may be {@value #THREADS} more and descriptors {@value #DESCRIPTORS} (Spark's pools are
 * not steady), direct memory {@value #DIRECT_BYTES} bytes, RSS {@value #RESIDENT_BYTES} bytes.
 */
@Tag("nightly")
@Timeout(3600)
class SoakIT {
  private static final long THREADS = 8;
  private static final long DESCRIPTORS = 16;
  private static final long DIRECT_BYTES = 1 << 20;
  private static final long RESIDENT_BYTES = 64 << 20;
  private static final int TASKS = 3;
  private static final String APP =
      Path.of(System.getProperty("rankfold.root"), "examples/target/rankfold-app.jar").toString();

  @TempDir private Path folder;

  @Test
  void shouldHoldNoMoreAfterAHundredThousandCollectivesOverTcp() throws Exception {
    List<Process> processes = new ArrayList<>();
    try {
      for (int task = 0; task < TASKS; task++) {
        processes.add(
            new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx128m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    SoakJobs.Calls.class.getName(),
                    folder.toString(),
                    Integer.toString(TASKS),
                    Integer.toString(task),
                    "100000",
                    "20000")
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("calls-" + task).toFile())
                .start());
      }
      for (int task = 0; task < TASKS; task++) {
        assertTrue(processes.get(task).waitFor(30, TimeUnit.MINUTES), "task=" + task);
        List<String> printed = Files.readAllLines(folder.resolve("calls-" + task));
        assertEquals(0, processes.get(task).exitValue(), printed::toString);
        assertSteady(printed, 1);
      }
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }

  @Test
  void shouldHoldNoMoreAfterAHundredFits() throws Exception {
    try (StandaloneCluster cluster =
        StandaloneCluster.start(
            folder, 2, Place.here("127.0.0.1"), Place.here("127.0.0.2"), Place.here("127.0.0.3"))) {
      List<String> printed =
          cluster.submit(
              "soak",
              "--jars",
              APP,
              "--class",
              SoakJobs.Fits.class.getName(),
              StandaloneIT.jar(folder.resolve("jobs.jar")).toString(),
              "100",
              "30");
      assertSteady(printed, 2);
    }
  }

  @Test
  void shouldNoticeGrowth() {
    Usage early = new Usage(1, 10, 10, 0, 100);
    assertSteady(List.of(early.line(), early.line()), 1);
    for (Usage late :
        List.of(
            new Usage(1, 10 + THREADS + 1, 10, 0, 100),
            new Usage(1, 10, 10 + DESCRIPTORS + 1, 0, 100),
            new Usage(1, 10, 10, DIRECT_BYTES + 1, 100),
            new Usage(1, 10, 10, 0, RESIDENT_BYTES + 101))) {
      assertThrows(AssertionError.class, () -> assertSteady(List.of(early.line(), late.line()), 1));
    }
    assertThrows(AssertionError.class, () -> assertSteady(List.of("WRONG 3"), 1));
  }

  private static void assertSteady(List<String> printed, int processes) {
    Map<Long, List<Usage>> byProcess = new TreeMap<>();
    for (String line : printed) {
      assertThat(line).startsWith("USAGE ");
      Usage usage = Usage.parse(line);
      byProcess.computeIfAbsent(usage.pid(), pid -> new ArrayList<>()).add(usage);
    }
    assertThat(byProcess).hasSize(processes);
    for (List<Usage> usages : byProcess.values()) {
      assertThat(usages).hasSize(2);
      Usage early = usages.get(0);
      Usage late = usages.get(1);
      System.out.println("early " + early + ", late " + late);
      assertThat(late.threads()).isLessThanOrEqualTo(early.threads() + THREADS);
      assertThat(late.descriptors()).isLessThanOrEqualTo(early.descriptors() + DESCRIPTORS);
      assertThat(late.directBytes()).isLessThanOrEqualTo(early.directBytes() + DIRECT_BYTES);
      assertThat(late.residentBytes()).isLessThanOrEqualTo(early.residentBytes() + RESIDENT_BYTES);
    }
  }
}
