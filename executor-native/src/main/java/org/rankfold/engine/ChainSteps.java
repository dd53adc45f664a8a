// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

/**
 * The lockstep of a chain over a stream-ordered exchange: which chunk a task sends, receives and
 * folds at which step. A sum takes two steps from task to task, one to move and one to be folded
 * beside the next movement; a result takes one. So every task moves one chunk and folds another at
 * the same time, and both sides of a movement are in the same step.
 *
 * @param tasks of the group, at least 2
 * @param chunks at least 1
 */
record ChainSteps(int tasks, int chunks) {
  static final int NONE = -1;

  /** A task waits for a chunk in one slot while it folds the one before from the other. */
  static final int SLOTS = 2;

  /** Steps in all, from 0; a fold comes beside the step before its sum is sent, first beside -1. */
  int steps() {
    return chunks + 2 * (tasks - 1) + tasks - 2;
  }

  /** The chunk whose sum the task sends to the next. */
  int sumSent(int task, int step) {
    return task == tasks - 1 ? NONE : chunk(step - 2 * task);
  }

  /** The chunk whose sum comes from the task before. */
  int sumReceived(int task, int step) {
    return task == 0 ? NONE : sumSent(task - 1, step);
  }

  /** The chunk that the task folds beside the step, behind what the step before brought. */
  int folded(int task, int step) {
    return chunk(step + 1 - 2 * task);
  }

  /** The chunk whose result the task sends to the one before. */
  int resultSent(int task, int step) {
    return task == 0 ? NONE : chunk(step - 2 * (tasks - 1) - (tasks - 1 - task));
  }

  /** The chunk whose result comes from the next task. */
  int resultReceived(int task, int step) {
    return task == tasks - 1 ? NONE : resultSent(task + 1, step);
  }

  private int chunk(int number) {
    return number >= 0 && number < chunks ? number : NONE;
  }
}
