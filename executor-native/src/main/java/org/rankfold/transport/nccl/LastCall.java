// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * The call that gives a communicator up, on a thread of its own: it blocks, joins the library's
 * threads, and may hang. Made once; any number of threads await it.
 */
final class LastCall {
  private final ReentrantLock inside;
  private final String who;
  private final long exitNs;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  /**
   * @param inside held by whoever is inside the library
   * @param who the communicator, for messages
   * @param exitNs how long the call, and each who awaits it, may take
   */
  LastCall(ReentrantLock inside, String who, long exitNs) {
    this.inside = inside;
    this.who = who;
    this.exitNs = exitNs;
  }

  /** Starts the call, once. */
  void start(String call, Runnable body) {
    Thread thread = new Thread(() -> run(call, body), "rankfold-nccl-end");
    thread.setDaemon(true);
    thread.start();
  }

  private void run(String call, Runnable body) {
    try {
      if (!inside.tryLock(exitNs, TimeUnit.NANOSECONDS)) {
        throw new CollectiveException(
            ErrorCode.MEMORY_STILL_BORROWED, call + ": another thread stays inside the library");
      }
      try {
        body.run();
      } finally {
        inside.unlock();
      }
      ended.complete(null);
    } catch (InterruptedException | RuntimeException | Error e) {
      ended.completeExceptionally(e);
    }
  }

  /**
   * Returns when the call has. An interrupt does not end the wait.
   *
   * @throws CollectiveException MEMORY_STILL_BORROWED when it failed, or takes too long
   */
  void await(String call) {
    Deadline deadline = Deadline.after(System.nanoTime(), exitNs);
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          ended.get(deadline.remainingNs(System.nanoTime()), TimeUnit.NANOSECONDS);
          return;
        } catch (InterruptedException e) {
          isInterrupted = true;
        }
      }
    } catch (TimeoutException e) {
      String what =
          String.format(Locale.ROOT, "was not done within %.3f s", deadline.budgetSeconds());
      throw stillBorrowed(call, what, e);
    } catch (ExecutionException e) {
      throw stillBorrowed(call, "failed: " + e.getCause().getMessage(), e.getCause());
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private CollectiveException stillBorrowed(String call, String what, Throwable cause) {
    return new CollectiveException(
        ErrorCode.MEMORY_STILL_BORROWED,
        call + " of " + who + " " + what + ": the library may still use this device's memory",
        cause);
  }
}
