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
        "e", 3, task, "logical rank " + task, state, finished, call, text, ns, null, 0);
  }

  @Test
  void shouldNameTheMissingOnceAPeriodWhenACallWaitsTooLong() {
    registry.accept(report(0, State.RUNNING, 6, 7, 0), 0);
    registry.accept(report(1, State.RUNNING, 6, 7, 0), 0);
    assertThat(registry.accept(report(2, State.RUNNING, 5, 0, 5 * SECOND_NS), 0)).isEmpty();
    assertThat(registry.accept(report(0, State.RUNNING, 6, 7, 29 * SECOND_NS), 29 * SECOND_NS))
        .isEmpty();
    assertThat(registry.accept(report(0, State.RUNNING, 6, 7, 30 * SECOND_NS), 30 * SECOND_NS))
        .containsExactly(
            "all_reduce #7 (f32 x 8): 2 of 3 tasks arrived; missing logical rank 2, last finished"
                + " #5, silent for 35.0 s");
    assertThat(registry.accept(report(1, State.RUNNING, 6, 7, 59 * SECOND_NS), 59 * SECOND_NS))
        .isEmpty();
    assertThat(registry.accept(report(1, State.RUNNING, 6, 7, 60 * SECOND_NS), 60 * SECOND_NS))
        .hasSize(1);
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
    assertThat(registry.ended()).isEqualTo(1);
    assertThat(registry.active()).isZero();
    for (int task = 0; task < 3; task++) {
      registry.accept(report(task, task == 1 ? State.FAILED : State.ENDED, 9, 0, 0), 0);
    }
    assertThat(registry.failed()).isEqualTo(1);
    assertThat(registry.ended()).isEqualTo(1);
  }

  @Test
  void shouldForgetAGroupWhenNobodySpeaksOfIt() {
    registry.accept(report(0, State.RUNNING, 0, 0, 0), 0);
    assertThat(registry.describe(0)).hasSize(1);
    registry.accept(
        new TaskReport("other", 1, 0, "who", State.RUNNING, 0, 0, null, 0, "epoch 3", 0.25),
        3600 * SECOND_NS);
    assertThat(registry.describe(3600 * SECOND_NS))
        .containsExactly(
            "other: who: RUNNING, finished #0, in its own code for 0.0 s, epoch 3 25 %");
  }
}
