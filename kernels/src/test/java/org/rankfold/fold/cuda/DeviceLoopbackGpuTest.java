// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.OracleInputs;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * An all-reduce of all logical ranks on one device: shards travel to their owners' slots by device
 * copies, in any order, are folded there, and travel back. Every rank's arena must reach the golden
 * rows.
 */
@Tag("gpu")
class DeviceLoopbackGpuTest {
  private static CudaDevice device;
  private static CudaFold fold;

  @BeforeAll
  static void open() {
    device = Gpu.first();
    fold = CudaFold.on(device);
  }

  @AfterAll
  static void close() {
    if (fold != null) {
      fold.close();
    }
  }

  @Test
  void shouldReachEveryGoldenRowWhenDeliveredInRankOrder() {
    assertThat(wrongRows(deliveries -> {})).isEmpty();
  }

  @Test
  void shouldReachEveryGoldenRowWhenDeliveredBackwards() {
    assertThat(wrongRows(Collections::reverse)).isEmpty();
  }

  @Test
  void shouldReachEveryGoldenRowWhenDeliveredShuffled() {
    Random random = Gpu.seeded();
    assertThat(wrongRows(deliveries -> Collections.shuffle(deliveries, random))).isEmpty();
  }

  @Test
  void shouldMissGoldenRowsWhenOneDeliveryIsDropped() {
    int wrong = wrongRows(deliveries -> deliveries.remove(deliveries.size() / 2)).size();
    System.out.println("golden rows, one delivery dropped: " + wrong + " wrong");
    // A dropped shard of one of few rows may be empty, or bits may agree by chance.
    assertThat(wrong).isGreaterThan(500);
  }

  /** One rank's share of one shard, on its way to the shard's owner. */
  private record Move(int from, int owner) {}

  /** What happens to the deliveries of a call before they are made. */
  private interface Courier {
    void handle(List<Move> deliveries);
  }

  private static List<String> wrongRows(Courier courier) {
    List<String> wrong = new ArrayList<>();
    try (CudaStream stream = CudaStream.create(device)) {
      for (GoldenRow row : GoldenTable.builtIn()) {
        // With more than 16 ranks, a slot for each rank of each owner is more than a test needs.
        if (row.contract().world() <= 16 && !reaches(row, courier, stream)) {
          wrong.add(row.describe());
        }
      }
    }
    return wrong;
  }

  private static boolean reaches(GoldenRow row, Courier courier, CudaStream stream) {
    DType dtype = row.contract().dtype();
    int world = row.contract().world();
    long shard = FoldLaunch.shardElements(row.n(), world, dtype);
    try (DeviceMemory arenaRoom = Gpu.room(device, dtype, row.n(), world);
        DeviceMemory slotRoom = Gpu.room(device, dtype, shard, world * world)) {
      slotRoom.fill((byte) 0x5a, stream);
      DeviceView[] arenas = new DeviceView[world];
      View host = DeviceGolden.host(dtype, row.n());
      for (int r = 0; r < world; r++) {
        arenas[r] = Gpu.view(arenaRoom, Gpu.Placement.SHIFTED, dtype, row.n(), r);
        OracleInputs.fill(host, row.kind(), row.seed(), r, 0);
        host.copyTo(arenas[r]);
      }
      List<Move> deliveries = new ArrayList<>();
      for (int owner = 0; owner < world; owner++) {
        for (int from = 0; from < world; from++) {
          deliveries.add(new Move(from, owner));
        }
      }
      courier.handle(deliveries);
      for (Move move : deliveries) {
        long n = shardCount(row.n(), shard, move.owner());
        stream.copy(
            arenas[move.from()].slice(Math.min(row.n(), shard * move.owner()), n),
            slot(slotRoom, dtype, shard, world, move).slice(0, n));
      }
      for (int owner = 0; owner < world; owner++) {
        long n = shardCount(row.n(), shard, owner);
        DeviceView[] slots = new DeviceView[world];
        DeviceView[] outs = new DeviceView[world];
        for (int r = 0; r < world; r++) {
          slots[r] = slot(slotRoom, dtype, shard, world, new Move(r, owner)).slice(0, n);
          outs[r] = arenas[r].slice(Math.min(row.n(), shard * owner), n);
        }
        fold.enqueue(row.contract(), slots, outs, stream);
      }
      stream.await(Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(30)), null);
      return Arrays.stream(arenas).allMatch(arena -> BitDigest.of(arena).equals(row.sha256()));
    }
  }

  private static DeviceView slot(DeviceMemory room, DType dtype, long shard, int world, Move move) {
    int index = move.owner() * world + move.from();
    return Gpu.view(room, Gpu.Placement.ALIGNED, dtype, shard, index);
  }

  private static long shardCount(long count, long shard, int owner) {
    return Math.max(0, Math.min(shard, count - shard * owner));
  }
}
