// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A call that ends while a peer is still inside its memory, in local mode. */
class PoisonIT {
  private static final String WORKS = "ok [0, 1]";
  private static final String FATAL = "TASK MEMORY_STILL_BORROWED PROCESS_FATAL";
  private static final String REFUSED =
      "PROCESS_POISONED PROCESS_FATAL this process refuses new groups since: all_reduce #";

  @TempDir private Path folder;

  private List<String> run(String exitTimeout, String tries) throws Exception {
    try (SparkProcess driver = SparkProcess.start(folder, PoisonMain.class, exitTimeout, tries)) {
      assertThat(driver.awaitEnd(120)).as(driver.errors()).isZero();
      return driver.lines();
    }
  }

  @Test
  void shouldRefuseEveryLaterGroupOfTheProcessWhenAPeerDidNotLeaveItsMemory() throws Exception {
    List<String> lines = run("1us", "10");
    assertThat(lines).contains("BEFORE " + WORKS, FATAL);
    assertThat(lines)
        .anyMatch(line -> line.startsWith("NEXT " + REFUSED), "refused")
        .anyMatch(line -> line.startsWith("NEXT APPLICATION " + REFUSED), "refused for good");
  }

  @Test
  void shouldGoOnWhenPeersHadTheTimeToLeave() throws Exception {
    List<String> lines = run("30s", "1");
    assertThat(lines)
        .contains("BEFORE " + WORKS, "NEXT " + WORKS, "NEXT APPLICATION " + WORKS)
        .anyMatch(line -> line.startsWith("TASK ") && line.endsWith(" GROUP_LOST"), "lost")
        .doesNotContain(FATAL);
  }
}
