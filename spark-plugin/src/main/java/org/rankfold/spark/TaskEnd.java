// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;
import org.rankfold.spark.executor.TaskGuard;

/** Ends a group with its task, where the task's code is not ours to wrap. */
final class TaskEnd implements TaskFailureListener, TaskCompletionListener {
  private final TaskGuard guard;
  private boolean failed;

  private TaskEnd(TaskGuard guard) {
    this.guard = guard;
  }

  static void attach(TaskContext context, TaskGuard guard) {
    TaskEnd end = new TaskEnd(guard);
    context.addTaskFailureListener((TaskFailureListener) end);
    context.addTaskCompletionListener((TaskCompletionListener) end);
  }

  @Override
  public void onTaskFailure(TaskContext context, Throwable error) {
    failed = true;
    guard.fail(error);
  }

  @Override
  public void onTaskCompletion(TaskContext context) {
    try {
      if (!failed) {
        guard.awaitPeers();
      }
    } catch (RuntimeException e) {
      guard.fail(e);
      throw e;
    } finally {
      guard.close();
    }
  }
}
