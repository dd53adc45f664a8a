// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.InputKind;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineSettings;
import org.rankfold.engine.PartialsRule;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.Folds;
import org.rankfold.fold.ScalarFold;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.loopback.DeliveryFault;
import org.rankfold.transport.loopback.DeliveryOrder;
import org.rankfold.transport.loopback.LoopbackHub;
import org.rankfold.transport.loopback.LoopbackOptions;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.view.View;

/** Sums that travel instead of addends: the same bits, and the bytes that were promised. */
class PartialSumsTest {
  private static final List<GoldenRow> ROWS = GoldenTable.builtIn();
  private static final int[] CHUNK_BYTES = {4, 100, 1000, 4096, 65_536};

  private static LoopbackGroup group(int world, int tasks) {
    return LoopbackGroup.of(world, tasks)
        .path(PathRule.STAGED)
        .partials(PartialsRule.ALWAYS)
        .timeouts(Duration.ofMinutes(2), Duration.ofSeconds(20));
  }

  private static List<String> digests(LoopbackGroup group, RowInputs inputs, GoldenRow row) {
    return group.run(
        communicator -> {
          View out = inputs.out(communicator.info().task());
          communicator.allReduce(
              row.contract().op(), row.contract().order(), inputs.of(communicator.info()), out);
          return BitDigest.of(out);
        });
  }

  @ParameterizedTest
  @EnumSource
  void shouldReachEveryGoldenDigestWhenTasksHostSeveralRanks(Layout layout) {
    List<String> wrong = new ArrayList<>();
    int reduced = 0;
    for (int index = 0; index < ROWS.size(); index++) {
      GoldenRow row = ROWS.get(index);
      int world = row.contract().world();
      RowInputs inputs = new RowInputs(row, layout);
      for (int tasks = 2; tasks < Math.min(world, 6); tasks++) {
        int chunk = CHUNK_BYTES[(index + tasks) % CHUNK_BYTES.length];
        boolean tooMany = row.n() * 4 / chunk > 300;
        LoopbackGroup group = group(world, tasks).chunkBytes(tooMany ? 65_536 : chunk);
        reduced++;
        if (!digests(group, inputs, row).stream().allMatch(row.sha256()::equals)) {
          wrong.add(row.describe() + " tasks=" + tasks + " " + layout);
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(reduced).isGreaterThan(ROWS.size());
  }

  @Test
  void shouldFoldIntoAnAddendWhenTheOutputIsOne() {
    List<String> wrong = new ArrayList<>();
    for (GoldenRow row : ROWS) {
      int world = row.contract().world();
      for (int tasks = 2; tasks < Math.min(world, 4); tasks++) {
        List<String> digests =
            group(world, tasks)
                .chunkBytes(4096)
                .run(
                    communicator -> {
                      RowInputs inputs = new RowInputs(row, Layout.DIRECT);
                      List<View> addends = inputs.of(communicator.info());
                      View out = addends.get(addends.size() - 1);
                      communicator.allReduce(
                          row.contract().op(), row.contract().order(), addends, out);
                      return BitDigest.of(out);
                    });
        if (!digests.stream().allMatch(row.sha256()::equals)) {
          wrong.add(row.describe() + " tasks=" + tasks);
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void shouldEqualTheObviousFoldForEveryWorldAndLayoutOfRanks(FoldOrder order) {
    for (int world = 2; world <= 19; world++) {
      ReduceContract contract = new ReduceContract(DType.F32, ReduceOp.SUM, order, world);
      GoldenRow row = new GoldenRow(contract, InputKind.CANCEL, 203, world, "");
      RowInputs inputs = new RowInputs(row, Layout.HEAP);
      View expected = inputs.out(0);
      new ScalarFold().fold(contract, inputs.all(), new View[] {expected});
      for (int tasks = 2; tasks <= world; tasks++) {
        assertThat(digests(group(world, tasks).chunkBytes(128), inputs, row))
            .as("world=%d tasks=%d", world, tasks)
            .containsOnly(BitDigest.of(expected));
      }
    }
  }

  /** 2 arenas a task at most, whatever the world; the addends themselves would take more. */
  @ParameterizedTest
  @CsvSource({
    "RANK_LEFT,2",
    "RANK_LEFT,3",
    "RANK_LEFT,4",
    "RANK_TREE,2",
    "RANK_TREE,3",
    "RANK_TREE,4"
  })
  void shouldSendTheBytesOfTheFormula(FoldOrder order, int tasks) {
    int world = 8;
    int n = 9600;
    for (DType dtype : new DType[] {DType.F32, DType.F64, DType.BF16}) {
      long element = dtype.bytes();
      long sum = dtype.isHalf() ? Float.BYTES : element;
      long[] sent = sentBytes(dtype, order, world, tasks, n);
      int[] subtrees = tasks == 3 ? new int[] {2, 2, 1} : new int[] {1, 1, 1, 1};
      for (int task = 0; task < tasks; task++) {
        long shard = n / tasks;
        long expected =
            order == FoldOrder.RANK_TREE
                ? subtrees[task] * sum * (n - shard) + element * shard * (tasks - 1)
                : (task < tasks - 1 ? n * sum : 0) + (task > 0 ? n * element : 0);
        assertThat(sent[task]).as("%s task=%d", dtype, task).isEqualTo(expected);
        if (dtype == DType.F32) {
          assertThat(sent[task]).isLessThanOrEqualTo(2L * n * element);
        }
      }
    }
  }

  private static long[] sentBytes(DType dtype, FoldOrder order, int world, int tasks, int n) {
    RankTable table = new RankTable(world, tasks);
    EngineSettings settings =
        new EngineSettings(4000, 60_000_000_000L, 5_000_000_000L, PartialsRule.ALWAYS);
    LoopbackHub hub =
        new LoopbackHub(
            table,
            new LoopbackOptions(
                PathRule.STAGED, DeliveryOrder.ARRIVAL, settings.chunkBytes(), DeliveryFault.NONE));
    GoldenRow row =
        new GoldenRow(
            new ReduceContract(dtype, ReduceOp.SUM, order, world), InputKind.SPREAD, n, 7, "");
    RowInputs inputs = new RowInputs(row, Layout.DIRECT);
    AtomicLong[] bytes = new AtomicLong[tasks];
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < tasks; t++) {
      int task = t;
      bytes[t] = new AtomicLong();
      CountingTransport transport = new CountingTransport(hub.join(t), bytes[t]);
      Thread thread =
          new Thread(
              () -> {
                try (Communicator communicator =
                    Communicators.over(
                        new Engine(
                            table,
                            task,
                            transport,
                            Folds.fastest(),
                            settings,
                            CollectiveMetrics.NONE,
                            ProcessPoison.PROCESS),
                        table,
                        task)) {
                  communicator.allReduce(
                      ReduceOp.SUM, order, inputs.of(communicator.info()), inputs.out(task));
                }
              });
      thread.start();
      threads.add(thread);
    }
    long[] sent = new long[tasks];
    for (int t = 0; t < tasks; t++) {
      try {
        threads.get(t).join(60_000);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      assertThat(threads.get(t).isAlive()).isFalse();
      sent[t] = bytes[t].get();
    }
    return sent;
  }

  @ParameterizedTest
  @EnumSource
  void shouldNameWhatIsMissingWhenASumIsDropped(FoldOrder order) {
    CollectiveException missing =
        failure(order, DeliveryTag.Phase.ADDEND, DeliveryFault.Action.DROP);
    assertThat(missing.code()).isEqualTo(ErrorCode.TIMEOUT);
    // Whose wait ends first: the next task's for the sum, or another's for what should come of it.
    assertThat(missing).hasMessageMatching("(?s).*(lacks the sum of|\\d+ of \\d+ folded chunks).*");
    assertThat(failure(order, DeliveryTag.Phase.RESULT, DeliveryFault.Action.DROP).code())
        .isEqualTo(ErrorCode.TIMEOUT);
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefuseASumThatComesTwice(FoldOrder order) {
    CollectiveException twice =
        failure(order, DeliveryTag.Phase.ADDEND, DeliveryFault.Action.REPEAT);
    assertThat(twice.code()).isEqualTo(ErrorCode.PROTOCOL);
    assertThat(twice).hasMessageContaining("came before");
  }

  private static CollectiveException failure(
      FoldOrder order, DeliveryTag.Phase phase, DeliveryFault.Action action) {
    return catchThrowableOfType(
        CollectiveException.class, () -> run(order, phase, action, Duration.ofMillis(400)));
  }

  @ParameterizedTest
  @EnumSource
  void shouldMissTheDigestWhenASumIsCorrupted(FoldOrder order) {
    List<String> right = run(order, null, DeliveryFault.Action.NONE, Duration.ofMinutes(1));
    List<String> wrong =
        run(order, DeliveryTag.Phase.ADDEND, DeliveryFault.Action.CORRUPT, Duration.ofMinutes(1));
    assertThat(right.stream().distinct()).hasSize(1);
    assertThat(wrong).doesNotContain(right.get(0));
  }

  private static List<String> run(
      FoldOrder order, DeliveryTag.Phase phase, DeliveryFault.Action action, Duration timeout) {
    // No flipped bit of an integer is lost by rounding.
    ReduceContract contract = new ReduceContract(DType.I32, ReduceOp.SUM, order, 8);
    GoldenRow row = new GoldenRow(contract, InputKind.BITS, 3000, 7, "");
    LoopbackGroup group =
        LoopbackGroup.of(8, 3)
            .path(PathRule.STAGED)
            .partials(PartialsRule.ALWAYS)
            .chunkBytes(1000)
            .timeouts(timeout, Duration.ofSeconds(10))
            .fault(
                (sender, receiver, tag) ->
                    sender == 1 && tag.phase() == phase && tag.chunk() == 0
                        ? action
                        : DeliveryFault.Action.NONE);
    return digests(group, new RowInputs(row, Layout.HEAP), row);
  }
}
