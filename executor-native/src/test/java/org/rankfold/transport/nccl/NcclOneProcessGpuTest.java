// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.engine.DeviceTasks;
import org.rankfold.engine.EngineSettings;
import org.rankfold.engine.PartialsRule;
import org.rankfold.transport.RankTable;

/**
 * Several ranks of NCCL in one process on one GPU, which it allows from 2.30 on where {@code
 * NCCL_MULTI_RANK_GPU_ENABLE=1} was in the process's environment: whole calls of the engine.
 */
@Tag("gpu")
@Tag("nccl")
@Timeout(120)
class NcclOneProcessGpuTest {
  private static final int FIRST_VERSION = 23000;

  /** Fewer where a sanitizer makes everything slow. */
  private static final int MOST_WORLD = Integer.getInteger("rankfold.nccl.worlds", 64);

  private static final long SECONDS_NS = TimeUnit.SECONDS.toNanos(1);

  @ParameterizedTest
  @ValueSource(ints = {3, 4})
  void shouldReachEveryGoldenRowWhenRanksShareAProcessAndADevice(int tasks) throws Exception {
    DeviceTasks.requireDevice();
    NcclLibrary library = NcclLibrary.process().require();
    if (!"1".equals(System.getenv("NCCL_MULTI_RANK_GPU_ENABLE"))
        || library.version() < FIRST_VERSION) {
      String reason =
          "NCCL_MULTI_RANK_GPU_ENABLE="
              + System.getenv("NCCL_MULTI_RANK_GPU_ENABLE")
              + " != 1, or "
              + library.describe()
              + " is older than 2.30";
      System.out.println("SKIPPED: " + reason);
      Assumptions.abort(reason);
    }
    NcclSocketInterface.PROCESS.choose(InetAddress.getLoopbackAddress());
    byte[] id = NcclExchange.uniqueId();
    List<GoldenRow> rows =
        GoldenTable.builtIn().stream()
            .filter(row -> row.contract().world() >= tasks && row.contract().world() <= MOST_WORLD)
            .toList();
    int[] counted = new int[2];
    for (int world = tasks; world <= MOST_WORLD; world++) {
      int ofWorld = world;
      List<GoldenRow> these =
          rows.stream().filter(row -> row.contract().world() == ofWorld).toList();
      if (these.isEmpty()) {
        continue;
      }
      byte[] groupId = counted[0] + counted[1] == 0 ? id : NcclExchange.uniqueId();
      List<List<String>> digests =
          DeviceTasks.run(
              new RankTable(world, tasks),
              new EngineSettings(64, 60 * SECONDS_NS, 20 * SECONDS_NS, PartialsRule.ALWAYS),
              (task, device, latch) ->
                  NcclExchange.open(
                      device,
                      tasks,
                      task,
                      groupId,
                      NcclRank.TIMEOUTS,
                      Deadline.after(System.nanoTime(), 30 * SECONDS_NS),
                      latch),
              communicator -> {
                List<String> found = new ArrayList<>();
                for (GoldenRow row : these) {
                  found.add(DeviceTasks.digest(communicator, row, row.n() % 2 == 1));
                }
                return found;
              });
      for (List<String> found : digests) {
        for (int i = 0; i < these.size(); i++) {
          counted[found.get(i).equals(these.get(i).sha256()) ? 0 : 1]++;
        }
      }
    }
    System.out.printf(
        "golden rows, %s, %d ranks in one process on one GPU: %d rows, results ok=%d wrong=%d%n",
        library.describe(), tasks, rows.size(), counted[0], counted[1]);
    assertThat(counted[1]).isZero();
    assertThat(counted[0]).isEqualTo(tasks * rows.size());
  }
}
