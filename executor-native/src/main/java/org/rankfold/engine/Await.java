// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.Transport;

/**
 * The one way to wait: spins, yields, then parks until a condition holds, the group is aborted, the
 * thread is interrupted or the deadline passes. With a core for each task it spins long, with more
 * tasks than cores hardly at all.
 */
final class Await {
  private static final int LONG_SPIN = 20_000;
  private static final long YIELD_NS = 2_000_000;
  private static final long PARK_NS = 50_000;

  private final AbortLatch latch;
  private final int spins;

  Await(AbortLatch latch, Transport transport) {
    this.latch = latch;
    boolean hasCore = transport.localTasks() <= Runtime.getRuntime().availableProcessors();
    this.spins = hasCore && transport.isLookCheap() ? LONG_SPIN : 0;
  }

  /** Waits for the condition; throws the abort's cause, CANCELLED or TIMEOUT. */
  void until(BooleanSupplier condition, long timeoutNs, Supplier<String> missing) {
    if (spinUntil(condition)) {
      return;
    }
    Deadline deadline = Deadline.after(System.nanoTime(), timeoutNs);
    while (!condition.getAsBoolean()) {
      throwIfAborted();
      if (Thread.currentThread().isInterrupted()) {
        throw new CollectiveException(
            ErrorCode.CANCELLED, "interrupted while waiting: " + missing.get());
      }
      long nowNs = System.nanoTime();
      if (deadline.isExpired(nowNs)) {
        throw new CollectiveException(
            ErrorCode.TIMEOUT,
            String.format(
                Locale.ROOT, "%s; waited %.1f s", missing.get(), deadline.budgetSeconds()));
      }
      pause(deadline, nowNs);
    }
  }

  /** As {@link #quietlyUntil}, spinning first: the usual way out of a call. */
  boolean patientlyUntil(BooleanSupplier condition, long timeoutNs) {
    return spinUntil(condition) || quietlyUntil(condition, timeoutNs);
  }

  /**
   * Waits whatever the latch says, since a peer may be inside this task's memory; an interrupt
   * stays pending. False when the time is over.
   */
  boolean quietlyUntil(BooleanSupplier condition, long timeoutNs) {
    boolean interrupted = false;
    Deadline deadline = Deadline.after(System.nanoTime(), timeoutNs);
    try {
      while (!condition.getAsBoolean()) {
        interrupted |= Thread.interrupted();
        long nowNs = System.nanoTime();
        if (deadline.isExpired(nowNs)) {
          return false;
        }
        pause(deadline, nowNs);
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean spinUntil(BooleanSupplier condition) {
    for (int i = 0; i < spins; i++) {
      if (condition.getAsBoolean()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return condition.getAsBoolean();
  }

  /** Yielding is what lets more tasks than cores take turns within microseconds. */
  @SuppressWarnings("ThreadPriorityCheck")
  private static void pause(Deadline deadline, long nowNs) {
    long waitedNs = deadline.budgetNs() - deadline.remainingNs(nowNs);
    if (waitedNs < YIELD_NS) {
      Thread.yield();
    } else {
      LockSupport.parkNanos(PARK_NS);
    }
  }

  /** Ends work between two chunks when the group was aborted. */
  void throwIfAborted() {
    CollectiveException cause = latch.cause();
    if (cause != null) {
      throw cause;
    }
  }
}
