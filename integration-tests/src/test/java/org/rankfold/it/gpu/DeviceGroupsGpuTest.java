// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.errors.CollectiveException;
import org.rankfold.examples.DigestJob;
import org.rankfold.examples.MemoryKind;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.cudapeer.CopyOptions;
import org.rankfold.transport.loopback.DeliveryFault;
import org.rankfold.transport.loopback.DeliveryOrder;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.view.View;

/** Tasks of this JVM that share one GPU, each with device memory of its own. */
@Tag("gpu")
class DeviceGroupsGpuTest {
  private static final int MOST_TASKS = 4;
  private static final List<GoldenRow> ROWS = GoldenTable.builtIn();
  private static final int[] CHUNK_BYTES = {1, 100, 4096, 65_536};

  /** How tasks reach each other's device memory. */
  enum Way {
    /** Folded where it lies. */
    MAPPED,
    /** By way of the host, arriving anyhow. */
    STAGED,
    /** Both, by pair. */
    MIXED,
    /** Copied on the device, in the order of tasks. */
    COPIED,
    /** The other way round. */
    COPIED_DESCENDING,
    /** Anyhow. */
    COPIED_SHUFFLED;

    LoopbackGroup group(int world, int tasks, int turn) {
      LoopbackGroup group =
          LoopbackGroup.of(world, tasks)
              .device(0)
              .timeouts(Duration.ofSeconds(60), Duration.ofSeconds(20))
              .chunkBytes(CHUNK_BYTES[turn % CHUNK_BYTES.length]);
      return switch (this) {
        case MAPPED -> group.path(PathRule.MAPPED);
        case STAGED ->
            group
                .path(PathRule.STAGED)
                .delivery(DeliveryOrder.parse("shuffled:7"))
                .chunkBytes(4096);
        case MIXED ->
            group.path(PathRule.MIXED).delivery(DeliveryOrder.parse("descending")).chunkBytes(4096);
        case COPIED -> group.copies(CopyOptions.PLAIN);
        case COPIED_DESCENDING -> group.copies(new CopyOptions(CopyOptions.Order.DESCENDING, 0, 0));
        case COPIED_SHUFFLED -> group.copies(new CopyOptions(CopyOptions.Order.SHUFFLED, turn, 0));
      };
    }
  }

  @BeforeAll
  static void open() {
    GpuMachine.require();
  }

  @ParameterizedTest
  @EnumSource
  void shouldReachEveryGoldenRowWhenMemoryIsOnADevice(Way way) {
    List<String> wrong = new ArrayList<>();
    int reduced = 0;
    for (int index = 0; index < ROWS.size(); index++) {
      GoldenRow row = ROWS.get(index);
      int most = Math.min(MOST_TASKS, row.contract().world());
      // The number of tasks goes round, but rows of three and more ranks get three and more tasks.
      int tasks = most < 3 ? most : 3 + index % (most - 2);
      for (String digest : digests(way.group(row.contract().world(), tasks, index), row)) {
        reduced++;
        if (!digest.equals(row.sha256())) {
          wrong.add(row.describe() + " tasks=" + tasks);
        }
      }
    }
    System.out.printf(
        "golden rows, device memory, %s: %d rows, %d results, %d wrong%n",
        way, ROWS.size(), reduced, wrong.size());
    assertThat(wrong).isEmpty();
    assertThat(reduced).isGreaterThan(2 * ROWS.size());
  }

  @Test
  void shouldMissGoldenRowsWhenACopyIsDropped() {
    int wrong = 0;
    int looked = 0;
    for (GoldenRow row : ROWS) {
      if (row.contract().world() < 3 || row.n() < 100) {
        continue;
      }
      LoopbackGroup group =
          LoopbackGroup.of(row.contract().world(), 3)
              .device(0)
              .copies(new CopyOptions(CopyOptions.Order.ASCENDING, 0, 2));
      looked++;
      wrong += digests(group, row).stream().allMatch(row.sha256()::equals) ? 0 : 1;
    }
    System.out.printf("a dropped copy: %d of %d rows wrong%n", wrong, looked);
    assertThat(wrong).isGreaterThan(looked / 2);
  }

  @Test
  void shouldMissGoldenRowsWhenADeliveryIsCorrupted() {
    int wrong = 0;
    for (GoldenRow row : ROWS.subList(0, 200)) {
      if (row.contract().world() >= 3 && row.n() > 0) {
        LoopbackGroup group =
            LoopbackGroup.of(row.contract().world(), 3)
                .device(0)
                .path(PathRule.STAGED)
                .fault(
                    (sender, receiver, tag) ->
                        sender == 2 && tag.phase() == DeliveryTag.Phase.ADDEND
                            ? DeliveryFault.Action.CORRUPT
                            : DeliveryFault.Action.NONE);
        wrong += digests(group, row).stream().allMatch(row.sha256()::equals) ? 0 : 1;
      }
    }
    assertThat(wrong).isPositive();
  }

  @Test
  void shouldReachTheSameBitsWhenSomeTasksBringHostMemory() {
    List<String> wrong = new ArrayList<>();
    for (int index = 0; index < ROWS.size(); index += 3) {
      GoldenRow row = ROWS.get(index);
      if (row.contract().world() < 3) {
        continue;
      }
      for (Way way : new Way[] {Way.MAPPED, Way.STAGED, Way.COPIED}) {
        List<String> digests =
            way.group(row.contract().world(), 3, index)
                .run(
                    communicator ->
                        DigestJob.digest(
                            communicator,
                            row,
                            communicator.info().task() == 1 ? MemoryKind.HEAP : MemoryKind.DEVICE));
        if (!digests.stream().allMatch(row.sha256()::equals)) {
          wrong.add(way + " " + row.describe());
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void shouldScatterGatherAndBroadcastWhenMemoryIsOnADevice(Way way) {
    int world = 5;
    int part = 1003;
    way.group(world, 3, 3)
        .run(
            communicator -> {
              List<View> addends = new ArrayList<>();
              List<View> parts = new ArrayList<>();
              List<DeviceBuffer> owned = new ArrayList<>();
              for (int r = 0; r < communicator.info().rankCount(); r++) {
                int rank = communicator.info().firstRank() + r;
                float[] values = new float[world * part];
                for (int i = 0; i < values.length; i++) {
                  values[i] = rank * 100 + i;
                }
                addends.add(onDevice(communicator, View.of(values), owned));
                parts.add(onDevice(communicator, View.of(new float[part]), owned));
              }
              communicator.reduceScatter(ReduceOp.SUM, FoldOrder.RANK_LEFT, addends, parts);
              View whole = onDevice(communicator, View.of(new float[world * part]), owned);
              communicator.allGather(parts, whole);
              communicator.broadcast(4, whole);
              float[] found = new float[world * part];
              whole.copyTo(View.of(found));
              for (int i = 0; i < found.length; i++) {
                assertThat(found[i]).as("element %d", i).isEqualTo(1000f + 5f * i);
              }
              owned.forEach(DeviceBuffer::close);
              return "";
            });
  }

  @ParameterizedTest
  @EnumSource
  void shouldEndEveryTaskWhenOneFails(Way way) {
    PlannedFailure failure = new PlannedFailure();
    failure.assertEnded(
        catchThrowableOfType(
            CollectiveException.class, () -> way.group(3, 3, 3).run(failure::run)));
    // The device and the process are as good as before.
    assertThat(digests(way.group(3, 3, 0), rowOfWorld(3))).containsOnly(rowOfWorld(3).sha256());
  }

  @ParameterizedTest
  @EnumSource(names = {"MAPPED", "COPIED"})
  void shouldKeepDeviceMemoryFlatWhenCallsAreMany(Way way) {
    int calls = Integer.getInteger("rankfold.gpu.calls", 10_000);
    Random random = new Random(7);
    int[] counts = random.ints(64, 0, 5000).toArray();
    way.group(4, 4, 3)
        .run(
            communicator -> {
              DeviceBuffer buffer = communicator.allocateOnDevice(DType.F32, 5000);
              DeviceBuffer out = communicator.allocateOnDevice(DType.F32, 5000);
              View.of(new float[5000]).copyTo(buffer.view());
              long freeBytes = 0;
              String digest = null;
              for (int call = 0; call < calls; call++) {
                if (call == 100) {
                  freeBytes = CudaDevice.of(0).freeBytes();
                }
                int count = counts[call % counts.length];
                communicator.allReduce(
                    List.of(buffer.view().slice(0, count)), out.view().slice(0, count));
                if (call % 1000 == 0) {
                  String now = BitDigest.of(out.view().slice(0, count));
                  assertThat(now).isNotEqualTo(digest);
                }
              }
              communicator.barrier();
              assertThat(freeBytes - CudaDevice.of(0).freeBytes()).isLessThan(4L << 20);
              buffer.close();
              out.close();
              return "";
            });
  }

  private static GoldenRow rowOfWorld(int world) {
    return ROWS.stream()
        .filter(row -> row.contract().world() == world && row.n() > 1000)
        .findFirst()
        .orElseThrow();
  }

  private static View onDevice(Communicator communicator, View host, List<DeviceBuffer> owned) {
    DeviceBuffer buffer = communicator.allocateOnDevice(host.dtype(), host.count());
    owned.add(buffer);
    host.copyTo(buffer.view());
    return buffer.view();
  }

  private static List<String> digests(LoopbackGroup group, GoldenRow row) {
    return group.run(communicator -> DigestJob.digest(communicator, row, MemoryKind.DEVICE));
  }
}
