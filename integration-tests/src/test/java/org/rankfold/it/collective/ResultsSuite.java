// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.collective.CollectiveHandle;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.memory.Arena;
import org.rankfold.view.View;

/** What every collective gives to every task. */
abstract class ResultsSuite {
  private static final int QUIET_NAN = 0x7fc00000;
  private static final int SIGNALLING_NAN = 0x7fa00001;

  abstract Groups groups();

  @ParameterizedTest
  @CsvSource({"1,1,9", "2,2,1", "3,3,2", "5,2,1000", "7,3,100000", "8,8,5", "8,5,0"})
  void shouldGiveEveryTaskTheSum(int world, int tasks, int n) {
    List<float[]> sums =
        groups()
            .run(
                world,
                tasks,
                communicator -> {
                  float[] out = new float[n];
                  communicator.allReduce(Rows.views(communicator.info(), n), View.of(out));
                  return out;
                });
    assertThat(sums)
        .hasSize(tasks)
        .allSatisfy(sum -> assertThat(sum).isEqualTo(Rows.sum(world, n)));
  }

  @ParameterizedTest
  @CsvSource({"1,1,9", "3,3,1", "5,2,1000", "7,3,5000", "8,5,0"})
  void shouldSumInPlaceInTheLastAddend(int world, int tasks, int n) {
    List<float[]> sums =
        groups()
            .run(
                world,
                tasks,
                communicator -> {
                  CommunicatorInfo info = communicator.info();
                  int lastRank = info.firstRank() + info.rankCount() - 1;
                  float[] last = Rows.row(lastRank, n);
                  List<View> addends =
                      Rows.views(info, rank -> rank == lastRank ? last : Rows.row(rank, n));
                  communicator.allReduce(addends, View.of(last));
                  return last;
                });
    assertThat(sums).allSatisfy(sum -> assertThat(sum).isEqualTo(Rows.sum(world, n)));
  }

  @ParameterizedTest
  @CsvSource({
    "1,1,4,false", "3,3,1,false", "5,2,700,false", "7,3,3000,false", "6,4,0,false",
    "1,1,4,true", "3,3,1,true", "5,2,700,true", "7,3,3000,true", "6,4,0,true"
  })
  void shouldGiveEveryLogicalRankItsPart(int world, int tasks, int part, boolean inPlace) {
    int n = world * part;
    List<float[]> parts =
        groups()
            .run(
                world,
                tasks,
                communicator -> {
                  CommunicatorInfo info = communicator.info();
                  List<View> addends = Rows.views(info, n);
                  List<View> outs = new ArrayList<>();
                  for (int r = 0; r < info.rankCount(); r++) {
                    long from = (long) (info.firstRank() + r) * part;
                    outs.add(inPlace ? addends.get(r).slice(from, part) : View.of(new float[part]));
                  }
                  communicator.reduceScatter(ReduceOp.SUM, FoldOrder.RANK_TREE, addends, outs);
                  float[] own = new float[info.rankCount() * part];
                  for (int r = 0; r < info.rankCount(); r++) {
                    outs.get(r).copyTo(View.of(own, r * part, part));
                  }
                  return own;
                });
    int from = 0;
    for (float[] own : parts) {
      assertThat(own).isEqualTo(Arrays.copyOfRange(Rows.sum(world, n), from, from + own.length));
      from += own.length;
    }
    assertThat(from).isEqualTo(n);
  }

  @ParameterizedTest
  @CsvSource({
    "1,1,4,false", "3,3,1,false", "5,2,700,false", "7,3,40000,false", "6,4,0,false",
    "1,1,4,true", "3,3,1,true", "5,2,700,true", "7,3,40000,true", "6,4,0,true"
  })
  void shouldGatherRowsByLogicalRank(int world, int tasks, int n, boolean inPlace) {
    float[] expected = new float[world * n];
    for (int rank = 0; rank < world; rank++) {
      System.arraycopy(Rows.row(rank, n), 0, expected, rank * n, n);
    }
    List<float[]> gathered =
        groups()
            .run(
                world,
                tasks,
                communicator -> {
                  CommunicatorInfo info = communicator.info();
                  float[] out = new float[world * n];
                  List<View> rows = new ArrayList<>();
                  for (int r = 0; r < info.rankCount(); r++) {
                    int rank = info.firstRank() + r;
                    View place = View.of(out, rank * n, n);
                    View row = View.of(Rows.row(rank, n));
                    if (inPlace) {
                      row.copyTo(place);
                    }
                    rows.add(inPlace ? place : row);
                  }
                  communicator.allGather(rows, View.of(out));
                  return out;
                });
    assertThat(gathered).allSatisfy(out -> assertThat(out).isEqualTo(expected));
  }

  @ParameterizedTest
  @CsvSource({"1,1,3", "5,2,1000", "7,4,40000", "4,4,0"})
  void shouldBroadcastFromAnyLogicalRank(int world, int tasks, int n) {
    groups()
        .run(
            world,
            tasks,
            communicator -> {
              CommunicatorInfo info = communicator.info();
              for (int root = 0; root < world; root++) {
                boolean own =
                    root >= info.firstRank() && root < info.firstRank() + info.rankCount();
                float[] buffer = own ? Rows.row(root, n) : new float[n];
                communicator.broadcast(root, View.of(buffer));
                assertThat(buffer).isEqualTo(Rows.row(root, n));
              }
              return "";
            });
  }

  @Test
  void shouldHoldEveryTaskAtABarrier() {
    int tasks = 3;
    AtomicInteger arrived = new AtomicInteger();
    groups()
        .run(
            5,
            tasks,
            communicator -> {
              for (int round = 1; round <= 50; round++) {
                arrived.incrementAndGet();
                communicator.barrier();
                assertThat(arrived.get()).isEqualTo(round * tasks);
                communicator.barrier();
              }
              return "";
            });
  }

  @Test
  void shouldRunAsynchronousCallsInOrderAndBlockingOnesBehindThem() {
    int n = 3000;
    groups()
        .run(
            5,
            3,
            communicator -> {
              CommunicatorInfo info = communicator.info();
              float[] sum = new float[n];
              float[] most = new float[n];
              List<CollectiveHandle> handles = new ArrayList<>();
              handles.add(communicator.allReduceAsync(Rows.views(info, n), View.of(sum)));
              handles.add(communicator.broadcastAsync(4, View.of(sum)));
              communicator.allReduce(
                  ReduceOp.MAX,
                  FoldOrder.RANK_LEFT,
                  Rows.views(info, rank -> rank == 0 ? Rows.row(9, n) : new float[n]),
                  View.of(most));
              assertThat(handles).allMatch(CollectiveHandle::isDone);
              for (CollectiveHandle handle : handles) {
                handle.await();
                handle.await();
              }
              assertThat(sum).isEqualTo(Rows.sum(5, n));
              assertThat(most).isEqualTo(Rows.row(9, n));
              return "";
            });
  }

  @ParameterizedTest
  @CsvSource({"1,1", "3,3", "5,2"})
  void shouldMoveNaNsUnchangedAndReduceThemToTheCanonicalOne(int world, int tasks) {
    groups()
        .run(
            world,
            tasks,
            communicator -> {
              CommunicatorInfo info = communicator.info();
              float[] nan = {Float.intBitsToFloat(SIGNALLING_NAN), 1};
              communicator.broadcast(0, View.of(nan));
              assertThat(Float.floatToRawIntBits(nan[0])).isEqualTo(SIGNALLING_NAN);
              float[] rows = new float[2 * world];
              communicator.allGather(Rows.views(info, rank -> nan.clone()), View.of(rows));
              for (int rank = 0; rank < world; rank++) {
                assertThat(Float.floatToRawIntBits(rows[2 * rank])).isEqualTo(SIGNALLING_NAN);
              }
              float[] sum = new float[2];
              communicator.allReduce(Rows.views(info, rank -> nan.clone()), View.of(sum));
              assertThat(Float.floatToRawIntBits(sum[0])).isEqualTo(QUIET_NAN);
              assertThat(sum[1]).isEqualTo(world);
              return "";
            });
  }

  @Test
  void shouldReduceArenasInPlace() {
    int n = 1003;
    groups()
        .run(
            4,
            3,
            communicator -> {
              CommunicatorInfo info = communicator.info();
              List<Arena> arenas = new ArrayList<>();
              List<View> addends = new ArrayList<>();
              for (int r = 0; r < info.rankCount(); r++) {
                Arena arena = communicator.allocate(DType.F32, n);
                arena.floats().put(0, Rows.row(info.firstRank() + r, n));
                arenas.add(arena);
                addends.add(arena.view());
              }
              FloatBuffer first = arenas.get(0).floats();
              communicator.allReduce(addends, addends.get(0));
              float[] sum = new float[n];
              first.get(0, sum);
              assertThat(sum).isEqualTo(Rows.sum(4, n));
              arenas.forEach(Arena::close);
              return "";
            });
  }

  /** Waiting threads must let the others run: 16 tasks that only spin would take minutes. */
  @Test
  void shouldNotCollapseWithMoreTasksThanCores() {
    long startNs = System.nanoTime();
    groups()
        .run(
            16,
            16,
            communicator -> {
              float[] out = new float[1000];
              for (int call = 0; call < 100; call++) {
                communicator.allReduce(Rows.views(communicator.info(), 1000), View.of(out));
              }
              assertThat(out).isEqualTo(Rows.sum(16, 1000));
              return "";
            });
    assertThat(System.nanoTime() - startNs).isLessThan(Groups.PATIENT.toNanos());
  }
}
