// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.fold.Folds;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.group.PeerGroups;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.view.View;

/**
 * Communicators whose tasks reach one another's device memory, on one device: several tasks by the
 * event arm, and a task alone, whose kernels meet themselves, by the arm that waits on the device.
 */
@Tag("gpu")
class PeerGroupsGpuTest {
  private static final List<GoldenRow> ROWS = GoldenTable.builtIn();
  private static final Map<String, String> DEFAULTS = Map.of();

  /** How tasks wait for one another. */
  enum Way {
    /** Three and more tasks of one device. */
    EVENTS,
    /** One task, whatever the logical ranks; small payloads are pushed. */
    PUSHED,
    /** One task, nothing is pushed. */
    MAPPED;

    int tasks(int world, int turn) {
      return this != EVENTS ? 1 : world < 3 ? world : Math.min(world, 3 + turn % 2);
    }

    Map<String, String> settings() {
      return switch (this) {
        case EVENTS -> DEFAULTS;
        case PUSHED -> Map.of("spark.rankfold.peer.paths", "one_shot:1m,mapped");
        case MAPPED -> Map.of("spark.rankfold.peer.paths", "mapped");
      };
    }

    String reason() {
      return this == EVENTS ? "streams wait for events (tasks share GPU" : "wait on the device";
    }
  }

  @BeforeAll
  static void open() {
    GpuMachine.require();
  }

  private static <R> List<R> run(
      Way way, int world, int tasks, Map<String, String> settings, LoopbackGroup.RankBody<R> body) {
    return LoopbackGroup.of(world, tasks)
        .device(0)
        .timeouts(Duration.ofSeconds(60), Duration.ofSeconds(20))
        .run(
            communicator -> {
              PeerGroups.Outcome outcome = PeerGroups.attach(communicator, 0, settings::get);
              assertThat(outcome.isReached()).as(outcome.reason()).isTrue();
              if (tasks != 2 || way != Way.EVENTS) {
                assertThat(outcome.reason()).contains(tasks == 1 ? "device" : way.reason());
              }
              assertThat(communicator.info().transport()).isEqualTo("loopback+peer");
              return body.run(communicator);
            });
  }

  /** Device memory that peers map, or that calls have to copy: by turns. */
  private static final class Memory implements AutoCloseable {
    private final Communicator communicator;
    private final boolean isRegistered;
    private final List<DeviceBuffer> owned = new ArrayList<>();

    Memory(Communicator communicator, boolean isRegistered) {
      this.communicator = communicator;
      this.isRegistered = isRegistered;
    }

    View of(View host) {
      DeviceBuffer buffer = DeviceBuffer.allocate(0, host.dtype(), host.count());
      owned.add(buffer);
      if (isRegistered) {
        communicator.register(buffer);
      }
      host.copyTo(buffer.view());
      return buffer.view();
    }

    @Override
    public void close() {
      owned.forEach(DeviceBuffer::close);
    }
  }

  private static View host(DType dtype, long count) {
    int n = Math.toIntExact(count);
    return switch (dtype) {
      case F32 -> View.of(new float[n]);
      case F64 -> View.of(new double[n]);
      case F16, BF16 -> View.of(new short[n], dtype);
      case I32 -> View.of(new int[n]);
      case I64 -> View.of(new long[n]);
    };
  }

  /** An all-reduce of generated inputs, in place on a task's first addend or not. */
  private static String reduce(
      Communicator communicator, GoldenRow row, Memory memory, boolean isInPlace) {
    List<View> addends = new ArrayList<>();
    DType dtype = row.contract().dtype();
    for (int r = 0; r < communicator.info().rankCount(); r++) {
      View host = host(dtype, row.n());
      OracleInputs.fill(host, row.kind(), row.seed(), communicator.info().firstRank() + r, 0);
      addends.add(memory.of(host));
    }
    View out = isInPlace ? addends.get(0) : memory.of(host(dtype, row.n()));
    communicator.allReduce(row.contract().op(), row.contract().order(), addends, out);
    return BitDigest.of(out);
  }

  @ParameterizedTest
  @EnumSource
  void shouldReachEveryGoldenRow(Way way) {
    List<String> wrong = new ArrayList<>();
    int reduced = 0;
    for (int world : ROWS.stream().mapToInt(r -> r.contract().world()).distinct().toArray()) {
      List<GoldenRow> rows = ROWS.stream().filter(r -> r.contract().world() == world).toList();
      for (int turn = 0; turn < 2; turn++) {
        int tasks = way.tasks(world, turn);
        int parity = turn;
        List<List<String>> digests =
            run(
                way,
                world,
                tasks,
                way.settings(),
                communicator -> {
                  List<String> found = new ArrayList<>();
                  for (int i = parity; i < rows.size(); i += 2) {
                    // Registered memory stays until the group ends: both kinds by turns of rows.
                    try (Memory memory = new Memory(communicator, false)) {
                      found.add(reduce(communicator, rows.get(i), memory, i % 3 == 0));
                    }
                  }
                  return found;
                });
        for (int i = parity; i < rows.size(); i += 2) {
          for (List<String> ofTask : digests) {
            reduced++;
            if (!ofTask.get(i / 2).equals(rows.get(i).sha256())) {
              wrong.add(rows.get(i).describe() + " tasks=" + tasks);
            }
          }
        }
      }
    }
    System.out.printf(
        "golden rows, device memory reached by peers, %s: %d rows, %d results, %d wrong%n",
        way, ROWS.size(), reduced, wrong.size());
    assertThat(wrong).isEmpty();
    assertThat(reduced).isGreaterThanOrEqualTo(ROWS.size());
  }

  /** What is registered is used where it lies, at any offset, and used again under its binding. */
  @ParameterizedTest
  @EnumSource
  void shouldUseRegisteredMemoryWhereItLies(Way way) {
    GoldenRow row = rowOf(3);
    List<Integer> right =
        run(
            way,
            3,
            way.tasks(3, 0),
            way.settings(),
            communicator -> {
              int equal = 0;
              DType dtype = row.contract().dtype();
              int ranks = communicator.info().rankCount();
              long room = row.n() + 64;
              DeviceBuffer buffer = DeviceBuffer.allocate(0, dtype, room * (ranks + 1));
              communicator.register(buffer);
              communicator.register(buffer);
              for (int call = 0; call < 20; call++) {
                List<View> addends = new ArrayList<>();
                for (int r = 0; r < ranks; r++) {
                  View host = host(dtype, row.n());
                  OracleInputs.fill(
                      host, row.kind(), row.seed(), communicator.info().firstRank() + r, 0);
                  View addend = buffer.view().slice(room * r + call % 7, row.n());
                  host.copyTo(addend);
                  addends.add(addend);
                }
                View out = buffer.view().slice(room * ranks + call % 5, row.n());
                communicator.allReduce(row.contract().op(), row.contract().order(), addends, out);
                equal += BitDigest.of(out).equals(row.sha256()) ? 1 : 0;
              }
              // Not closed before the communicator: peers have mapped it.
              communicator.barrier();
              return equal;
            });
    assertThat(right).containsOnly(20);
  }

  @Test
  void shouldGiveTheSameBitsOnBothSidesOfEachCutOver() {
    ReduceContract contract = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 5);
    String paths = "spark.rankfold.peer.paths";
    for (long count : new long[] {2047, 2048, 2049, 8191, 8192, 8193}) {
      View[] addends = new View[5];
      for (int l = 0; l < 5; l++) {
        addends[l] = host(DType.F32, count);
        OracleInputs.fill(addends[l], InputKind.CANCEL, count, l, 0);
      }
      Folds.fastest().fold(contract, addends, new View[] {addends[0]});
      GoldenRow row = new GoldenRow(contract, InputKind.CANCEL, count, count, "0".repeat(64));
      String expected = BitDigest.of(addends[0]);
      // One task pushes up to 8 KiB, maps up to 32 KiB, and then goes as without reach.
      for (String table :
          List.of("one_shot:8k,mapped:32k", "mapped:8k", "one_shot:32k", "staged", "auto")) {
        for (int tasks : new int[] {1, 3}) {
          List<String> digests =
              run(
                  tasks == 1 ? Way.PUSHED : Way.EVENTS,
                  5,
                  tasks,
                  Map.of(paths, table),
                  communicator -> {
                    try (Memory memory = new Memory(communicator, false)) {
                      return reduce(communicator, row, memory, false);
                    }
                  });
          assertThat(digests)
              .as("count=%d tasks=%d %s", count, tasks, table)
              .containsOnly(expected);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldScatterGatherAndBroadcast(Way way) {
    int world = 5;
    for (int part : new int[] {1, 1003, 40_000}) {
      for (boolean isRegistered : new boolean[] {false, true}) {
        run(
            way,
            world,
            way == Way.EVENTS ? 3 : 1,
            way.settings(),
            communicator -> {
              Memory memory = new Memory(communicator, isRegistered);
              List<View> addends = new ArrayList<>();
              List<View> parts = new ArrayList<>();
              for (int r = 0; r < communicator.info().rankCount(); r++) {
                int rank = communicator.info().firstRank() + r;
                float[] values = new float[world * part];
                for (int i = 0; i < values.length; i++) {
                  values[i] = rank * 100 + i;
                }
                addends.add(memory.of(View.of(values)));
                parts.add(memory.of(View.of(new float[part])));
              }
              communicator.reduceScatter(ReduceOp.SUM, FoldOrder.RANK_LEFT, addends, parts);
              View whole = memory.of(View.of(new float[world * part]));
              communicator.allGather(parts, whole);
              require(whole, 1000, 5);
              // The root's own differs from the others' before: it alone must be left.
              View sent = memory.of(View.of(new float[world * part]));
              if (communicator.info().firstRank() <= 4
                  && 4 < communicator.info().firstRank() + communicator.info().rankCount()) {
                whole.copyTo(sent);
              }
              communicator.broadcast(4, sent);
              require(sent, 1000, 5);
              // In place: every row and part is its own place in the whole.
              List<View> places = new ArrayList<>();
              for (int r = 0; r < communicator.info().rankCount(); r++) {
                places.add(whole.slice((communicator.info().firstRank() + r) * (long) part, part));
              }
              communicator.allGather(places, whole);
              require(whole, 1000, 5);
              communicator.barrier();
              if (!isRegistered) {
                memory.close();
              }
              return "";
            });
      }
    }
  }

  private static void require(View view, float from, float step) {
    float[] found = new float[Math.toIntExact(view.count())];
    view.copyTo(View.of(found));
    for (int i = 0; i < found.length; i++) {
      assertThat(found[i]).as("element %d", i).isEqualTo(from + step * i);
    }
  }

  @Test
  void shouldReachTheSameBitsWhenSomeTasksBringHostMemory() {
    GoldenRow row = rowOf(4);
    List<String> digests =
        run(
            Way.EVENTS,
            4,
            4,
            DEFAULTS,
            communicator -> {
              if (communicator.info().task() != 2) {
                try (Memory memory = new Memory(communicator, false)) {
                  return reduce(communicator, row, memory, false);
                }
              }
              View host = host(row.contract().dtype(), row.n());
              OracleInputs.fill(host, row.kind(), row.seed(), 2, 0);
              communicator.allReduce(
                  row.contract().op(), row.contract().order(), List.of(host), host);
              return BitDigest.of(host);
            });
    assertThat(digests).containsOnly(row.sha256());
  }

  @Test
  void shouldKeepTwoGroupsOfOneDeviceApart() {
    List<CompletableFuture<List<Integer>>> groups = new ArrayList<>();
    for (int world = 3; world <= 4; world++) {
      GoldenRow row = rowOf(world);
      int tasks = world;
      groups.add(
          CompletableFuture.supplyAsync(
              () ->
                  run(
                      Way.EVENTS,
                      tasks,
                      tasks,
                      DEFAULTS,
                      communicator -> {
                        int right = 0;
                        for (int call = 0; call < 100; call++) {
                          try (Memory memory = new Memory(communicator, false)) {
                            String digest = reduce(communicator, row, memory, call % 2 == 0);
                            right += digest.equals(row.sha256()) ? 1 : 0;
                          }
                        }
                        return right;
                      })));
    }
    for (CompletableFuture<List<Integer>> group : groups) {
      assertThat(group.join()).containsOnly(100);
    }
  }

  @ParameterizedTest
  @EnumSource(names = "EVENTS")
  void shouldEndEveryTaskWhenOneFailsAndServeANewGroup(Way way) {
    PlannedFailure failure = new PlannedFailure();
    failure.assertEnded(
        catchThrowableOfType(
            CollectiveException.class, () -> run(way, 3, 3, DEFAULTS, failure::run)));
    shouldUseRegisteredMemoryWhereItLies(way);
  }

  /** A device refuses: the caller hears what the kernel says, and everybody else its cause. */
  @Test
  void shouldSayThatTheGroupIsLostWhenAPeerLeavesBeforeTheCall() {
    CollectiveException first =
        catchThrowableOfType(
            CollectiveException.class,
            () ->
                run(
                    Way.EVENTS,
                    3,
                    3,
                    DEFAULTS,
                    communicator -> {
                      View view = communicator.allocateOnDevice(DType.F32, 1 << 15).view();
                      communicator.allReduce(List.of(view), view);
                      if (communicator.info().task() == 0) {
                        return "";
                      }
                      communicator.allReduce(List.of(view), view);
                      return "";
                    }));
    assertThat(first.code()).isEqualTo(ErrorCode.PEER_FAILED);
    assertThat(first.outState()).isEqualTo(OutState.UNTOUCHED);
    assertThat(first).hasMessageContaining("(task 0) closed its communicator after call #");
  }

  /** Buffers of ever other sizes: what peers have mapped is let go of, and freed. */
  @Test
  void shouldFreeWhatPeersHaveLetGoOf() {
    long before = CudaDevice.of(0).freeBytes();
    List<Long> least =
        run(
            Way.EVENTS,
            3,
            3,
            DEFAULTS,
            communicator -> {
              long leastFree = Long.MAX_VALUE;
              for (int i = 0; i < 24; i++) {
                try (DeviceBuffer buffer =
                    communicator.allocateOnDevice(DType.F32, (64L + i) << 20)) {
                  communicator.allReduce(List.of(buffer.view()), buffer.view());
                  communicator.barrier();
                  leastFree = Math.min(leastFree, CudaDevice.of(0).freeBytes());
                }
              }
              return leastFree;
            });
    // Kept for ever they would be 21 GiB. Each of three tasks may keep 1 GiB, and some on its way.
    long mostHeld = before - least.stream().mapToLong(Long::longValue).min().orElseThrow();
    assertThat(mostHeld).isLessThan(8L << 30);
    long lost = before - CudaDevice.of(0).freeBytes();
    System.out.printf("most held %d MiB, lost %d MiB%n", mostHeld >> 20, lost >> 20);
    assertThat(lost).isLessThan(256L << 20);
  }

  @Test
  void shouldRefuseToRegisterWhatIsNoAllocation() {
    run(
        Way.EVENTS,
        3,
        3,
        DEFAULTS,
        communicator -> {
          DeviceBuffer nothing = DeviceBuffer.borrow(0, 0x1234_5000L, DType.F32, 16);
          assertThatThrownBy(() -> communicator.register(nothing))
              .isInstanceOfSatisfying(
                  CollectiveException.class,
                  e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
              .hasMessageContaining("cannot be shared: cuMemGetAddressRange");
          communicator.barrier();
          return "";
        });
  }

  @Test
  void shouldConcludeAlikeWhenSettingsDiffer() {
    List<PeerGroups.Outcome> outcomes =
        LoopbackGroup.of(3, 3)
            .device(0)
            .run(
                communicator -> {
                  String paths = communicator.info().task() == 1 ? "mapped:1k" : "mapped:2k";
                  Map<String, String> settings = Map.of("spark.rankfold.peer.paths", paths);
                  PeerGroups.Outcome outcome = PeerGroups.attach(communicator, 0, settings::get);
                  // Nothing came of it, and the group is as it was.
                  View view = communicator.allocateOnDevice(DType.F32, 10).view();
                  communicator.allReduce(List.of(view), view);
                  return outcome;
                });
    assertThat(outcomes)
        .containsOnly(
            new PeerGroups.Outcome(false, "task 1 paths=mapped:1k != task 0 paths=mapped:2k"));
  }

  private static GoldenRow rowOf(int world) {
    return ROWS.stream()
        .filter(row -> row.contract().world() == world && row.n() > 1000)
        .findFirst()
        .orElseThrow();
  }
}
