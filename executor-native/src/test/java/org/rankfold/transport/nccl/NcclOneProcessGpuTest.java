// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.cuda.CudaDevice;
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
    NcclLibrary library = require();
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
      List<List<String>> digests =
          DeviceTasks.run(
              new RankTable(world, tasks),
              new EngineSettings(64, 60 * SECONDS_NS, 20 * SECONDS_NS, PartialsRule.ALWAYS),
              exchanges(tasks),
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

  /** Whole calls of the engine, as chains of 8 logical ranks, one after another. */
  @Test
  void shouldKeepDeviceMemoryFlatWhenCallsAreMany() throws Exception {
    NcclLibrary library = require();
    int calls = Integer.getInteger("rankfold.nccl.exchanges", 1000);
    GoldenRow row =
        GoldenTable.builtIn().stream()
            .filter(r -> r.contract().world() == 8 && r.contract().dtype() == DType.F32)
            .filter(r -> r.contract().order() == FoldOrder.RANK_LEFT && r.n() > 1000)
            .findFirst()
            .orElseThrow();
    List<String> said =
        DeviceTasks.run(
            new RankTable(8, 3),
            new EngineSettings(1024, 60 * SECONDS_NS, 20 * SECONDS_NS, PartialsRule.ALWAYS),
            exchanges(3),
            communicator -> {
              try (DeviceTasks.Row memory = new DeviceTasks.Row(communicator, row, false)) {
                long freeBytes = 0;
                long startNs = 0;
                int wrong = 0;
                for (int call = 0; call < calls + 100; call++) {
                  if (call == 100) {
                    communicator.barrier();
                    freeBytes = CudaDevice.of(0).freeBytes();
                    startNs = System.nanoTime();
                  }
                  memory.reduce();
                  wrong += call % 100 == 0 && !memory.digest().equals(row.sha256()) ? 1 : 0;
                }
                long tookNs = System.nanoTime() - startNs;
                communicator.barrier();
                long less = freeBytes - CudaDevice.of(0).freeBytes();
                assertThat(wrong).isZero();
                assertThat(less).isLessThan(4L << 20);
                return String.format(
                    Locale.ROOT,
                    "calls=%d free_mib=%d less_bytes=%d us_a_call=%.0f wrong=%d",
                    calls,
                    freeBytes >> 20,
                    less,
                    tookNs / 1e3 / calls,
                    wrong);
              }
            });
    said.forEach(line -> System.out.println("many calls, " + library.describe() + ": " + line));
  }

  private static NcclLibrary require() throws Exception {
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
    return library;
  }

  private static DeviceTasks.Exchanges exchanges(int tasks) {
    byte[] id = NcclExchange.uniqueId();
    return (task, device, latch) ->
        NcclExchange.open(
            device,
            tasks,
            task,
            id,
            NcclRank.TIMEOUTS,
            Deadline.after(System.nanoTime(), 30 * SECONDS_NS),
            latch);
  }
}
