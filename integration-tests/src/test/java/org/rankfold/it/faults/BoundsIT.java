// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How long it takes until who is left knows, and until their slots are free: what is promised. */
@Timeout(600)
class BoundsIT {
  private static final long PEER_MS = 3000;
  private static final long COLLECTIVE_MS = 6000;
  private static final long GRACE_MS = 2000;
  private static final long SLOT_MS = 3000;

  @TempDir private Path folder;

  @Test
  void shouldTellEverySurvivorInTimeAndFreeItsSlotWhenAPeerDiesStopsOrNeverComes()
      throws Exception {
    try (SparkProcess driver =
        SparkProcess.start(folder, BoundsMain.class, "1", "kill", "stop", "absent")) {
      assertThat(driver.awaitEnd(540)).as(driver.errors()).isZero();
      driver.lines().forEach(System.out::println);
      assertFault(driver, "kill", "PEER_FAILED", 0, GRACE_MS, "closed its connection");
      assertFault(
          driver, "stop", "PEER_FAILED", PEER_MS * 3 / 4, PEER_MS + GRACE_MS, "has been silent");
      assertFault(
          driver, "absent", "TIMEOUT", COLLECTIVE_MS, COLLECTIVE_MS + GRACE_MS, "waited 6.0 s");
      assertAbsentIsReported(driver);
    }
  }

  private static void assertFault(
      SparkProcess driver, String fault, String code, long fromMs, long toMs, String text)
      throws Exception {
    List<String> survivors =
        driver.lines().stream().filter(line -> line.startsWith("SURVIVOR " + fault)).toList();
    assertThat(survivors).hasSize(FaultCluster.TASKS - 1);
    for (String survivor : survivors) {
      String[] words = survivor.split(" ", 7);
      assertThat(Long.parseLong(words[3])).as(survivor).isBetween(fromMs, toMs);
      assertThat(Long.parseLong(words[4])).as(survivor).isLessThan(SLOT_MS);
      assertThat(words[5]).as(survivor).isEqualTo(code);
      assertThat(words[6]).contains(text, "(task 1)");
    }
  }

  /** The exception and the log say who is missing, the log once. */
  private static void assertAbsentIsReported(SparkProcess driver) throws Exception {
    String report =
        ": 2 of 3 tasks arrived; missing logical ranks 2..3 (task 1, executor \\d+, host 127.0.0.1),"
            + " last finished #22, silent for \\d+\\.\\d s";
    String pattern = report.replace("(", "\\(").replace(")", "\\)").replace("..3", "\\.\\.3");
    String user =
        driver.lines().stream()
            .filter(line -> line.startsWith("USER absent"))
            .findFirst()
            .orElseThrow();
    assertThat(user)
        .contains(" TIMEOUT ")
        .containsPattern("; the driver saw all_reduce #23 \\(f32 x 262,144.*" + pattern);
    assertThat(
            driver
                .errors()
                .lines()
                .filter(line -> line.contains(" WARN  Driver") && line.contains("all_reduce #23")))
        .singleElement()
        .asString()
        .containsPattern(pattern);
  }
}
