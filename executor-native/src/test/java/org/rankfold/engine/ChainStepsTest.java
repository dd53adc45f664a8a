// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Chains in lockstep, played without a device: who holds what after each step. */
class ChainStepsTest {
  private static final String NOTHING = "";

  @ParameterizedTest
  @CsvSource({"2,1", "2,2", "2,7", "3,1", "3,2", "3,3", "3,11", "4,1", "4,5", "5,4", "8,20"})
  void shouldFoldEveryChunkInTaskOrderAndBringEveryResultBack(int tasks, int chunks) {
    ChainSteps steps = new ChainSteps(tasks, chunks);
    String[][] slots = new String[tasks][ChainSteps.SLOTS];
    String[][] out = new String[tasks][chunks];
    for (int task = 0; task < tasks; task++) {
      Arrays.fill(slots[task], NOTHING);
      Arrays.fill(out[task], NOTHING);
    }
    String whole = "0123456789".substring(0, tasks);
    for (int step = -1; step < steps.steps(); step++) {
      String[] folded = new String[tasks];
      // What a fold reads must be there before the step, which may overwrite neither it nor more.
      for (int task = 0; task < tasks; task++) {
        int chunk = steps.folded(task, step);
        if (chunk != ChainSteps.NONE) {
          String before = task == 0 ? NOTHING : slots[task][chunk % ChainSteps.SLOTS];
          assertThat(before).isEqualTo("0123456789".substring(0, task));
          folded[task] = before + task;
        }
      }
      if (step >= 0) {
        move(steps, step, slots, out);
      }
      for (int task = 0; task < tasks; task++) {
        int chunk = steps.folded(task, step);
        if (chunk != ChainSteps.NONE) {
          assertThat(slots[task][chunk % ChainSteps.SLOTS])
              .as("the slot that is read beside the step")
              .isEqualTo("0123456789".substring(0, task));
          out[task][chunk] = folded[task];
        }
      }
    }
    for (String[] results : out) {
      assertThat(results).containsOnly(whole);
    }
  }

  private static void move(ChainSteps steps, int step, String[][] slots, String[][] out) {
    int tasks = steps.tasks();
    String[] sums = new String[tasks];
    String[] results = new String[tasks];
    for (int task = 0; task < tasks; task++) {
      int sum = steps.sumSent(task, step);
      sums[task] = sum == ChainSteps.NONE ? null : out[task][sum];
      int result = steps.resultSent(task, step);
      results[task] = result == ChainSteps.NONE ? null : out[task][result];
      int beside = steps.folded(task, step);
      assertThat(beside == ChainSteps.NONE || (beside != sum && beside != result)).isTrue();
    }
    for (int task = 0; task < tasks; task++) {
      int sum = steps.sumReceived(task, step);
      if (sum != ChainSteps.NONE) {
        assertThat(sums[task - 1]).isEqualTo("0123456789".substring(0, task));
        slots[task][sum % ChainSteps.SLOTS] = sums[task - 1];
      }
      int result = steps.resultReceived(task, step);
      if (result != ChainSteps.NONE) {
        assertThat(results[task + 1]).isEqualTo("0123456789".substring(0, tasks));
        assertThat(result).isNotEqualTo(steps.folded(task, step));
        out[task][result] = results[task + 1];
      }
    }
  }
}
