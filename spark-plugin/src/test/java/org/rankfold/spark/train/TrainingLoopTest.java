// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.transport.loopback.PathRule;

class TrainingLoopTest {
  private static final int WORLD = 8;
  private static final int ROWS = 333;
  private static final String PINNED =
      "311bcfcf87a4647dd9a9c7d9fb75fbf937736c1ce67ec5b741e4140a9f09b61d";

  private static final LoopWatch QUIET =
      new LoopWatch() {
        @Override
        public void checkAbort() {}

        @Override
        public void onProgress(String what, double fraction) {}

        @Override
        public void onEpoch(EpochReport report) {}
      };

  private static int byKey(Sample row) {
    return RowKey.of(row.id()).rank(WORLD);
  }

  private static TrainingPlan<Sample> plan(GradientModel<Sample> model) {
    return new TrainingPlan<>(model, new AdamW(0.05f), 50, 3, 42, ComputeDevice.CPU);
  }

  /** This task's rows, arriving in an order that depends on the task. */
  private static HostedRows<Sample> rows(
      CommunicatorInfo info, int count, ToIntFunction<Sample> place, boolean heldOut) {
    List<KeyedRow<Sample>> rows = new ArrayList<>();
    for (Sample sample : Sample.many(count)) {
      RowKey key = RowKey.of(sample.id());
      int rank = place.applyAsInt(sample);
      if (rank >= info.firstRank() && rank < info.firstRank() + info.rankCount()) {
        rows.add(new KeyedRow<>(rank, false, key, sample));
        if (heldOut) {
          rows.add(new KeyedRow<>(rank, true, key, sample));
        }
      }
    }
    Collections.shuffle(rows, new Random(info.task() * 31L + info.tasks()));
    return HostedRows.of(info, rows.iterator(), () -> {});
  }

  private static TrainingOutcome train(
      LoopbackGroup group, int count, ToIntFunction<Sample> place) {
    return group
        .run(
            communicator ->
                run(
                    plan(new Logistic()),
                    communicator,
                    rows(communicator.info(), count, place, true)))
        .get(0);
  }

  private static TrainingOutcome run(
      TrainingPlan<Sample> plan, Communicator communicator, HostedRows<Sample> rows) {
    int ranks = communicator.info().rankCount();
    try (Gradients<Sample> gradients = new HostGradients<>(plan.model(), ranks)) {
      return new TrainingLoop<>(plan, communicator, QUIET, rows, gradients).run();
    }
  }

  private static String hash(LoopbackGroup group, ToIntFunction<Sample> place) {
    return train(group, ROWS, place).sha256();
  }

  @Test
  void shouldTrainToOneHashWhenTasksDiffer() {
    Set<String> hashes = new HashSet<>();
    Set<List<EpochReport>> reports = new HashSet<>();
    for (int tasks : new int[] {1, 2, 3, 4, 8}) {
      for (PathRule path : List.of(PathRule.MAPPED, PathRule.STAGED)) {
        LoopbackGroup group = LoopbackGroup.of(WORLD, tasks).path(path).chunkBytes(8);
        TrainingOutcome outcome = train(group, ROWS, TrainingLoopTest::byKey);
        assertThat(outcome.steps()).isEqualTo(3 * 7);
        hashes.add(outcome.sha256());
        reports.add(outcome.epochs());
      }
    }
    assertThat(hashes).containsExactly(PINNED);
    assertThat(reports).hasSize(1);
    EpochReport last = reports.iterator().next().get(2);
    assertThat(last.training().rows()).isEqualTo(ROWS);
    assertThat(last.heldOut().rows()).isEqualTo(ROWS);
  }

  @Test
  void shouldTrainToAnotherHashWhenTwoRanksTradeTheirRows() {
    // One row a rank: no shuffle, no share differs; only the order of the fold does.
    ToIntFunction<Sample> straight = row -> (int) row.id();
    ToIntFunction<Sample> swapped =
        row -> row.id() == 2 ? 5 : row.id() == 5 ? 2 : straight.applyAsInt(row);
    LoopbackGroup group = LoopbackGroup.of(WORLD, 3);
    assertThat(train(group, WORLD, swapped).sha256())
        .isNotEqualTo(train(group, WORLD, straight).sha256());
  }

  @Test
  void shouldTrainToOneHashWhenRanksHaveNoRows() {
    Set<String> hashes = new HashSet<>();
    for (int tasks : new int[] {1, 3, 8}) {
      hashes.add(hash(LoopbackGroup.of(WORLD, tasks), row -> byKey(row) % 6));
      assertThat(train(LoopbackGroup.of(WORLD, tasks), 2, TrainingLoopTest::byKey).steps())
          .isEqualTo(3);
    }
    assertThat(hashes).hasSize(1);
  }

  @Test
  void shouldRefuseWhenThereAreNoRows() {
    assertThatThrownBy(() -> train(LoopbackGroup.of(WORLD, 3), 0, TrainingLoopTest::byKey))
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
        .hasMessageStartingWith("rows=0");
  }

  @Test
  void shouldFailWhenParametersDifferBetweenTasks() {
    assertThatThrownBy(
            () ->
                LoopbackGroup.of(WORLD, 3)
                    .run(
                        communicator ->
                            run(
                                plan(new Drifting(communicator.info().task() == 1)),
                                communicator,
                                rows(communicator.info(), ROWS, TrainingLoopTest::byKey, false))))
        .hasMessageContaining("logical ranks 3..5 (task 1) sha256=")
        .hasMessageContaining(" != logical ranks 0..2 (task 0) sha256=");
  }

  /** Starts elsewhere when told so. */
  private record Drifting(boolean drifts) implements GradientModel<Sample> {
    @Override
    public int parameterCount() {
      return 3;
    }

    @Override
    public void initialise(long seed, float[] parameters) {
      parameters[2] = drifts ? 1e-3f : 0.0f;
    }

    @Override
    public Score gradientSum(float[] parameters, List<Sample> rows, float[] gradient) {
      return new Logistic().gradientSum(parameters, rows, gradient);
    }

    @Override
    public Score evaluate(float[] parameters, List<Sample> rows) {
      return new Logistic().evaluate(parameters, rows);
    }
  }
}
