// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs whose executors are killed, and what becomes of them when they are submitted anew. */
@Timeout(600)
class RetryIT {
  @TempDir private Path folder;

  private List<String> run(int killed, int retries) throws Exception {
    try (SparkProcess driver =
        SparkProcess.start(
            folder,
            RetryMain.class,
            Integer.toString(freePort()),
            Integer.toString(killed),
            Integer.toString(retries))) {
      assertThat(driver.awaitEnd(540)).as(driver.errors()).isZero();
      assertThat(driver.errors().lines().filter(line -> line.contains("retried: attempt")))
          .hasSize(Math.min(killed, retries));
      return driver.lines();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return Math.min(socket.getLocalPort(), 65_000);
    }
  }

  @Test
  void shouldEndWithTheSameBitsAndRefuseStalePeersWhenAnExecutorIsKilledInTheFirstAttempt()
      throws Exception {
    List<String> lines = run(1, 2);
    String hash = lines.get(0).substring("ROW ".length());
    List<String> tasks = lines.stream().filter(line -> line.startsWith("TASK ")).toList();
    assertThat(tasks).hasSize(FaultCluster.TASKS);
    for (int task = 0; task < FaultCluster.TASKS; task++) {
      assertThat(tasks.get(task)).startsWith("TASK " + task + " attempt=2 " + hash);
    }
    // Who took part in both attempts is refused by its own process by name, by others as unknown.
    assertThat(tasks.stream().filter(task -> task.contains("STALE_GROUP"))).isNotEmpty();
    assertThat(tasks).noneMatch(task -> task.contains("WELCOME") || task.contains("same group"));
  }

  @Test
  void shouldTellEveryAttemptAndTheFirstCauseFirstWhenAttemptsRunOut() throws Exception {
    List<String> lines = run(2, 1);
    assertThat(lines.get(lines.size() - 1))
        .startsWith("FAILED PEER_FAILED ")
        .containsSubsequence("(attempt 1 of 2; attempt 2: PEER_FAILED: ", ")");
  }
}
