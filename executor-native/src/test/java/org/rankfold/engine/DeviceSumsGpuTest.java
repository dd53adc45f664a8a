// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.cudapeer.CopyHub;
import org.rankfold.transport.cudapeer.CopyOptions;
import org.rankfold.view.View;

/** Sums that travel between tasks on one device: bits, and bytes. */
@Tag("gpu")
@Timeout(120)
class DeviceSumsGpuTest {
  private static final int[] CHUNK_BYTES = {1, 5, 100, 4096};
  private static final long SECONDS_NS = TimeUnit.SECONDS.toNanos(1);

  @BeforeAll
  static void open() {
    DeviceTasks.requireDevice();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void shouldReachEveryGoldenRowWhenSumsTravel(int tasks) throws Exception {
    List<String> wrong = new ArrayList<>();
    int looked = 0;
    List<GoldenRow> rows = rows(tasks);
    for (int i = 0; i < rows.size(); i++) {
      GoldenRow row = rows.get(i);
      boolean inPlace = i % 2 == 1;
      for (String digest : digests(row, tasks, PartialsRule.ALWAYS, i, inPlace, options(i, 0))) {
        looked++;
        if (!digest.equals(row.sha256())) {
          wrong.add(row.describe() + " turn=" + i);
        }
      }
    }
    System.out.printf(
        "golden rows, sums travel on the device, tasks=%d: %d rows, %d results, %d wrong%n",
        tasks, rows.size(), looked, wrong.size());
    assertThat(wrong).isEmpty();
    assertThat(looked).isEqualTo(tasks * rows.size()).isPositive();
  }

  /** The same 8 logical ranks on 1 to 4 tasks, as addends or sums, in every order of copies. */
  @ParameterizedTest
  @CsvSource({"RANK_LEFT", "RANK_TREE"})
  void shouldReachTheSameBitsByEveryPathWhenThereAreEightRanks(FoldOrder order) throws Exception {
    GoldenRow row = rowOfEight(order);
    List<String> digests = new ArrayList<>();
    for (int tasks = 1; tasks <= 4; tasks++) {
      for (PartialsRule rule : PartialsRule.values()) {
        for (int turn = 0; turn < 12; turn++) {
          digests.addAll(digests(row, tasks, rule, turn, turn % 2 == 0, options(turn, 0)));
        }
      }
    }
    assertThat(digests).hasSize((1 + 2 + 3 + 4) * 3 * 12).containsOnly(row.sha256());
  }

  @ParameterizedTest
  @CsvSource({"RANK_LEFT", "RANK_TREE"})
  void shouldMissTheBitsWhenASumIsLost(FoldOrder order) throws Exception {
    GoldenRow row = rowOfEight(order);
    List<String> digests = digests(row, 3, PartialsRule.ALWAYS, 3, false, options(0, 1));
    assertThat(digests).doesNotContain(row.sha256());
  }

  /** In arenas that the busiest task sends: what ADR 21 says of each way. */
  @ParameterizedTest
  @CsvSource({
    "RANK_LEFT, NEVER, 2, 2.5", "RANK_LEFT, NEVER, 3, 2.67", "RANK_LEFT, NEVER, 4, 2.25",
    "RANK_LEFT, AUTO, 2, 1", "RANK_LEFT, AUTO, 3, 2", "RANK_LEFT, AUTO, 4, 2",
    "RANK_TREE, NEVER, 2, 2.5", "RANK_TREE, NEVER, 3, 2.67", "RANK_TREE, NEVER, 4, 2.25",
    "RANK_TREE, AUTO, 2, 1", "RANK_TREE, AUTO, 3, 2", "RANK_TREE, AUTO, 4, 1.5"
  })
  void shouldSendNoMoreThanTheFormulaSays(
      FoldOrder order, PartialsRule rule, int tasks, double arenas) throws Exception {
    int chunkBytes = 100;
    int count = 4 * tasks * 3 * DeviceFoldCall.chunkBytes(chunkBytes);
    CountingExchange[] counts = new CountingExchange[tasks];
    CopyHub hub = new CopyHub(tasks, CopyOptions.PLAIN);
    DeviceTasks.run(
        new RankTable(8, tasks),
        new EngineSettings(chunkBytes, 60 * SECONDS_NS, 20 * SECONDS_NS, rule),
        (task, device, latch) ->
            counts[task] =
                new CountingExchange(hub.join(task, device, 60 * SECONDS_NS, latch), tasks),
        communicator -> {
          List<View> addends = new ArrayList<>();
          for (int r = 0; r < communicator.info().rankCount(); r++) {
            addends.add(communicator.allocateOnDevice(DType.F32, count).view());
          }
          DeviceBuffer out = communicator.allocateOnDevice(DType.F32, count);
          communicator.allReduce(ReduceOp.SUM, order, addends, out.view());
          return BitDigest.of(out.view());
        });
    long most = 0;
    for (CountingExchange exchange : counts) {
      most = Math.max(most, exchange.sentBytes());
    }
    double sent = (double) most / (4L * count);
    System.out.printf(
        Locale.ROOT, "bytes on devices: %s %s tasks=%d arenas=%.3f%n", order, rule, tasks, sent);
    assertThat(sent).isBetween(arenas - 0.006, arenas + 0.006);
  }

  /** Memory of failed and good calls goes back: nothing is left when groups have ended. */
  @Test
  void shouldLeaveNoDeviceMemoryWhenGroupsEnd() throws Exception {
    GoldenRow row = rowOfEight(FoldOrder.RANK_TREE);
    digests(row, 3, PartialsRule.ALWAYS, 3, false, options(0, 0));
    long before = DeviceTasks.requireDevice().freeBytes();
    for (int i = 0; i < 20; i++) {
      digests(row, 3, PartialsRule.ALWAYS, i, false, options(i, 0));
    }
    assertThat(before - DeviceTasks.requireDevice().freeBytes()).isLessThan(16L << 20);
  }

  private static List<String> digests(
      GoldenRow row, int tasks, PartialsRule rule, int turn, boolean inPlace, CopyOptions options)
      throws Exception {
    CopyHub hub = new CopyHub(tasks, options);
    return DeviceTasks.run(
        new RankTable(row.contract().world(), tasks),
        new EngineSettings(
            CHUNK_BYTES[turn % CHUNK_BYTES.length], 60 * SECONDS_NS, 20 * SECONDS_NS, rule),
        (task, device, latch) -> hub.join(task, device, 60 * SECONDS_NS, latch),
        communicator -> DeviceTasks.digest(communicator, row, inPlace));
  }

  private static CopyOptions options(int turn, long dropped) {
    CopyOptions.Order[] orders = CopyOptions.Order.values();
    return new CopyOptions(orders[turn % orders.length], turn, dropped);
  }

  private static List<GoldenRow> rows(int tasks) {
    return GoldenTable.builtIn().stream().filter(row -> row.contract().world() > tasks).toList();
  }

  private static GoldenRow rowOfEight(FoldOrder order) {
    return GoldenTable.builtIn().stream()
        .filter(
            row ->
                row.contract().world() == 8
                    && row.contract().dtype() == DType.F32
                    && row.contract().op() == ReduceOp.SUM
                    && row.contract().order() == order
                    && row.n() > 1000)
        .findFirst()
        .orElseThrow();
  }
}
