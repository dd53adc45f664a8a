// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rankfold.spark.driver.TaskReport.State;

class GroupRegistryTest {
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

  private final GroupRegistry registry = new GroupRegistry(30 * SECOND_NS);

  private static TaskReport report(int task, State state, long finished, long call, long ns) {
    String text = call == 0 ? null : "all_reduce #" + call + " (f32 x 8)";
    return new TaskReport(
        "run", "e", 3, task, "logical rank " + task, state, finished, call, text, ns, null, 0);
  }

  @Test
  void shouldNameTheMissingOnceWhenACallWaitsTooLong() {
    registry.accept(report(0, State.RUNNING, 6, 7, 0), 0);
    registry.accept(report(1, State.RUNNING, 6, 7, 0), 0);
    assertThat(registry.accept(report(2, State.RUNNING, 5, 0, 5 * SECOND_NS), 0)).isEmpty();
    assertThat(registry.accept(report(0, State.RUNNING, 6, 7, 29 * SECOND_NS), 29 * SECOND_NS))
        .isEmpty();
    registry.accept(report(2, State.RUNNING, 5, 0, 34 * SECOND_NS), 29 * SECOND_NS);
    assertThat(registry.accept(report(0, State.RUNNING, 6, 7, 30 * SECOND_NS), 30 * SECOND_NS))
        .containsExactly(
            "all_reduce #7 (f32 x 8): 2 of 3 tasks arrived; missing logical rank 2, last finished"
                + " #5, silent for 35.0 s");
    assertThat(registry.accept(report(1, State.RUNNING, 6, 7, 59 * SECOND_NS), 59 * SECOND_NS))
        .isEmpty();
    assertThat(registry.accept(report(1, State.RUNNING, 6, 7, 99 * SECOND_NS), 99 * SECOND_NS))
        .isEmpty();
  }

  @Test
  void shouldSpeakAgainWhenTheCallOrWhoIsMissingIsAnother() {
    for (long call : new long[] {7, 8}) {
      registry.accept(report(0, State.RUNNING, call - 1, call, 0), 0);
      registry.accept(report(1, State.RUNNING, call - 1, 0, 0), 0);
      assertThat(registry.accept(report(2, State.RUNNING, call - 1, 0, 0), 31 * SECOND_NS))
          .singleElement()
          .asString()
          .contains("#" + call, "1 of 3 tasks arrived");
      assertThat(registry.accept(report(1, State.RUNNING, call - 1, call, 0), 32 * SECOND_NS))
          .singleElement()
          .asString()
          .contains("#" + call, "2 of 3 tasks arrived");
    }
  }

  @Test
  void shouldSayWhoWasMissingWhenTheOthersHaveFailed() {
    registry.accept(report(2, State.RUNNING, 4, 0, SECOND_NS), 0);
    registry.accept(report(0, State.RUNNING, 2, 3, 0), 0);
    registry.accept(report(0, State.FAILED, 5, 6, 0), SECOND_NS);
    assertThat(registry.isAwaited("run")).isTrue();
    registry.accept(report(1, State.FAILED, 5, 6, 0), SECOND_NS);
    assertThat(registry.isAwaited("run")).isFalse();
    GroupRegistry.Ending ending = registry.ending("run", 5 * SECOND_NS);
    assertThat(ending.isNews()).isTrue();
    assertThat(ending.text())
        .isEqualTo(
            "all_reduce #6 (f32 x 8): 2 of 3 tasks arrived; missing logical rank 2, last finished"
                + " #4, silent for 6.0 s (its process last reported 5.0 s ago)");
    assertThat(registry.ending("run", 6 * SECOND_NS).isNews()).isFalse();
    assertThat(registry.isAwaited("no such run")).isFalse();
    assertThat(registry.ending("no such run", 0)).isNull();
  }

  @Test
  void shouldStillKnowAGroupThatHasEnded() {
    registry.accept(report(0, State.FAILED, 5, 6, 0), 0);
    registry.accept(report(1, State.FAILED, 5, 6, 0), 0);
    registry.accept(report(2, State.FAILED, 5, 0, 0), 0);
    assertThat(registry.active()).isZero();
    assertThat(registry.ending("run", 0).text()).contains("missing logical rank 2");
  }

  @Test
  void shouldCountAGroupAsFailedWhenItsRunIsConcludedWithoutATasksEnd() {
    registry.accept(report(0, State.RUNNING, 5, 6, 0), 0);
    registry.conclude("another run");
    assertThat(registry.active()).isEqualTo(1);
    registry.conclude("run");
    assertThat(registry.active()).isZero();
    assertThat(registry.failed()).isEqualTo(1);
    assertThat(registry.accept(report(0, State.FAILED, 5, 6, 0), 0)).isEmpty();
    assertThat(registry.active()).isZero();
    assertThat(registry.failed()).isEqualTo(1);
  }

  @Test
  void shouldBlameNobodyWhenAllCame() {
    for (int task = 0; task < 3; task++) {
      registry.accept(report(task, State.FAILED, 5, 6, 0), 0);
    }
    assertThat(registry.ending("run", 0)).isNull();
  }

  @Test
  void shouldSaySoWhenATaskWasNeverHeardOf() {
    assertThat(registry.accept(report(1, State.RUNNING, 0, 1, 31 * SECOND_NS), 0))
        .singleElement()
        .asString()
        .contains("task 0, never heard of; task 2, never heard of");
  }

  @Test
  void shouldSayNothingWhenEveryTaskIsInTheCall() {
    for (int task = 0; task < 3; task++) {
      assertThat(registry.accept(report(task, State.RUNNING, 6, 7, 99 * SECOND_NS), 0))
          .allMatch(line -> line.contains("never heard of"));
    }
    assertThat(registry.accept(report(0, State.RUNNING, 6, 7, 199 * SECOND_NS), 100 * SECOND_NS))
        .isEmpty();
  }

  @Test
  void shouldCountGroupsWhenAllTasksHaveEnded() {
    for (int task = 0; task < 3; task++) {
      assertThat(registry.ended()).isZero();
      registry.accept(report(task, State.ENDED, 9, 0, 0), 0);
    }
    assertThat(registry.active()).isZero();
    TaskReport.State[] states = {State.ENDED, State.FAILED, State.ENDED};
    assertThat(registry.ended()).isEqualTo(1);
    assertThat(registry.active()).isZero();
    for (int task = 0; task < 3; task++) {
      registry.accept(
          new TaskReport("run 2", "e2", 3, task, "who", states[task], 9, 0, null, 0, null, 0), 0);
    }
    assertThat(registry.failed()).isEqualTo(1);
    assertThat(registry.ended()).isEqualTo(1);
  }

  @Test
  void shouldForgetAGroupWhenNobodySpeaksOfIt() {
    registry.accept(report(0, State.RUNNING, 0, 0, 0), 0);
    assertThat(registry.describe(0)).hasSize(1);
    registry.accept(
        new TaskReport(
            "another", "other", 1, 0, "who", State.RUNNING, 0, 0, null, 0, "epoch 3", 0.25),
        3600 * SECOND_NS);
    assertThat(registry.describe(3600 * SECOND_NS))
        .containsExactly(
            "other: who: RUNNING, finished #0, in its own code for 0.0 s, epoch 3 25 %");
  }
}
