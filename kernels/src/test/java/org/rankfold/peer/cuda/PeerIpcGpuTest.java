// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rankfold.fold.cuda.Gpu;

/** Two processes on one device, by CUDA IPC and the event arm: neither spins, so they may share. */
@Tag("gpu")
class PeerIpcGpuTest {
  private static final long LIMIT_MS = TimeUnit.SECONDS.toMillis(90);

  @Test
  void shouldReachTheHostsBitsInBothProcesses() throws Exception {
    Gpu.first();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx1g", "-cp", System.getProperty("java.class.path")));
    String cache = System.getProperty("rankfold.cuda.cache");
    if (cache != null) {
      command.add("-Drankfold.cuda.cache=" + cache);
    }
    command.add(IpcRank.class.getName());
    Process peer =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    Timer limit = new Timer("peer-limit", true);
    limit.schedule(
        new TimerTask() {
          @Override
          public void run() {
            peer.destroyForcibly();
          }
        },
        LIMIT_MS);
    try (BufferedReader in =
            new BufferedReader(
                new InputStreamReader(peer.getInputStream(), StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(peer.getOutputStream(), true, StandardCharsets.UTF_8)) {
      List<String> digests = new IpcRank(0, in, out).run();
      for (int round = 0; round < IpcRank.ROUNDS; round++) {
        assertThat(digests.get(round)).as("round %d", round).isEqualTo(IpcRank.expected(round));
      }
      System.out.printf("two processes on one device: %d rounds ok%n", digests.size());
      assertThat(peer.waitFor(LIMIT_MS, TimeUnit.MILLISECONDS)).isTrue();
      assertThat(peer.exitValue()).isZero();
    } finally {
      limit.cancel();
      peer.destroyForcibly();
    }
  }
}
