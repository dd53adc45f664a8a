// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.gpu;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.examples.DigestJob;
import org.rankfold.examples.MemoryKind;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.group.NcclGroups;
import org.rankfold.group.PeerGroups;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.view.View;

/**
 * All golden rows, and movement of up to 10^8 elements, by every way between the GPUs of this
 * machine: a task a GPU in one process. Prints a line a way; exits with 1 when a result is wrong.
 * With one GPU it says what it cannot run.
 */
public final class MultiGpuGolden {
  private static final List<GoldenRow> ROWS = GoldenTable.builtIn();
  private static final Map<String, String> NONE = Map.of();

  /** How tasks of different GPUs exchange. */
  enum Way {
    NCCL,
    MAPPED,
    ONE_SHOT,
    EVENTS;

    Map<String, String> settings() {
      return switch (this) {
        case NCCL -> NONE;
        case MAPPED -> Map.of("spark.rankfold.peer.paths", "mapped");
        case ONE_SHOT -> Map.of("spark.rankfold.peer.paths", "one_shot:1g,mapped");
        case EVENTS -> Map.of("spark.rankfold.peer.arm", "events");
      };
    }

    /** Joins the group's tasks; null, or why it cannot be. */
    String attach(Communicator communicator, int ordinal) {
      Communicators.use(communicator, CudaDevice.of(ordinal));
      if (this == NCCL) {
        NcclGroups.attach(communicator, ordinal, (InetAddress) null, NONE::get);
        return null;
      }
      PeerGroups.Outcome outcome = PeerGroups.attach(communicator, ordinal, settings()::get);
      return outcome.isReached() ? null : outcome.reason();
    }
  }

  private MultiGpuGolden() {}

  /** Runs it for 2, 4 and 8 GPUs, as far as they are there. */
  public static void main(String[] args) {
    int devices = CudaProbe.process().require().devices().size();
    int wrong = 0;
    for (int tasks : new int[] {2, 3, 4, 8}) {
      for (Way way : Way.values()) {
        boolean sharesOne = devices == 1 && way == Way.EVENTS && tasks <= 4;
        if (tasks > devices && !sharesOne) {
          System.out.printf("NOT RUN: %s, tasks=%d: devices=%d%n", way, tasks, devices);
          continue;
        }
        wrong += golden(way, tasks, devices) + movement(way, tasks, devices);
      }
    }
    System.exit(wrong == 0 ? 0 : 1);
  }

  private static LoopbackGroup group(int world, int tasks) {
    return LoopbackGroup.of(world, tasks)
        .device(0)
        .timeouts(Duration.ofSeconds(60), Duration.ofSeconds(20));
  }

  private static int golden(Way way, int tasks, int devices) {
    int ok = 0;
    int bad = 0;
    String refused = null;
    for (int world : ROWS.stream().mapToInt(r -> r.contract().world()).distinct().toArray()) {
      if (world < tasks) {
        continue;
      }
      List<GoldenRow> rows = ROWS.stream().filter(r -> r.contract().world() == world).toList();
      List<List<String>> digests =
          group(world, tasks)
              .run(
                  communicator -> {
                    String why = way.attach(communicator, communicator.info().task() % devices);
                    if (why != null) {
                      return List.of(why);
                    }
                    List<String> found = new ArrayList<>();
                    for (GoldenRow row : rows) {
                      found.add(DigestJob.digest(communicator, row, MemoryKind.DEVICE));
                    }
                    return found;
                  });
      if (digests.get(0).size() != rows.size()) {
        refused = digests.get(0).get(0);
        continue;
      }
      for (int i = 0; i < rows.size(); i++) {
        int row = i;
        boolean isRight =
            digests.stream().allMatch(found -> found.get(row).equals(rows.get(row).sha256()));
        ok += isRight ? 1 : 0;
        bad += isRight ? 0 : 1;
      }
    }
    System.out.printf(
        "golden rows of worlds from %d on, %s, tasks=%d: %d ok, %d wrong%s%n",
        tasks, way, tasks, ok, bad, refused == null ? "" : "; NOT RUN: " + refused);
    return bad;
  }

  private static int movement(Way way, int tasks, int devices) {
    int bad = 0;
    for (int count : new int[] {1, 1024, 16_384, 100_000_000}) {
      List<String> wrong =
          group(tasks, tasks)
              .run(
                  communicator -> {
                    int task = communicator.info().task();
                    return way.attach(communicator, task % devices) != null
                        ? "not run"
                        : moved(communicator, count);
                  });
      if (wrong.stream().anyMatch(text -> !text.isEmpty())) {
        bad += wrong.contains("not run") ? 0 : 1;
        System.out.printf("movement of %d, %s, tasks=%d: %s%n", count, way, tasks, wrong);
      }
    }
    System.out.printf(
        "broadcast and all-gather of 1, 1024, 16,384 and 10^8 elements, %s, tasks=%d: %d wrong%n",
        way, tasks, bad);
    return bad;
  }

  /** A broadcast from the last rank, then a gathering of rows; empty when every bit is right. */
  private static String moved(Communicator communicator, int count) {
    int tasks = communicator.info().tasks();
    int task = communicator.info().task();
    int row = Math.max(1, count / tasks);
    try (DeviceBuffer buffer = communicator.allocateOnDevice(DType.F32, count);
        DeviceBuffer own = communicator.allocateOnDevice(DType.F32, row);
        DeviceBuffer all = communicator.allocateOnDevice(DType.F32, (long) row * tasks)) {
      View host = View.of(new float[count]);
      OracleInputs.fill(host, InputKind.BITS, count, tasks - 1, 0);
      String sent = BitDigest.of(host);
      if (task == tasks - 1) {
        host.copyTo(buffer.view());
      }
      communicator.broadcast(tasks - 1, buffer.view());
      String broadcast = BitDigest.of(buffer.view()).equals(sent) ? "" : "broadcast ";
      BitDigest expected = new BitDigest();
      View part = View.of(new float[row]);
      for (int t = 0; t < tasks; t++) {
        OracleInputs.fill(part, InputKind.BITS, row, t, 0);
        expected.update(part);
        if (t == task) {
          part.copyTo(own.view());
        }
      }
      communicator.allGather(List.of(own.view()), all.view());
      boolean isGathered = BitDigest.of(all.view()).equals(expected.hex());
      communicator.barrier();
      return broadcast + (isGathered ? "" : "all-gather");
    }
  }
}
