// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Waits for a device by asking it, never inside the driver: so a wait ends on its deadline and on
 * abort. Spins first, then sleeps between questions; an interrupt does not end it, since the device
 * would go on using the caller's memory.
 */
final class CudaWait {
  private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long PARK_NS = TimeUnit.MICROSECONDS.toNanos(20);

  private CudaWait() {}

  /**
   * Returns once done.
   *
   * @param abort ends the wait with its cause; may be null
   * @throws CollectiveException TIMEOUT at the deadline, or the latch's cause; the work goes on
   */
  static void until(BooleanSupplier isDone, String what, Deadline deadline, AbortLatch abort) {
    long startNs = System.nanoTime();
    while (!isDone.getAsBoolean()) {
      if (abort != null && abort.isTripped()) {
        throw abort.cause();
      }
      long nowNs = System.nanoTime();
      if (deadline.isExpired(nowNs)) {
        throw new CollectiveException(
            ErrorCode.TIMEOUT,
            String.format(
                java.util.Locale.ROOT,
                "%s was not done within %.3f s",
                what,
                deadline.budgetSeconds()));
      }
      if (nowNs - startNs < SPIN_NS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PARK_NS);
      }
    }
  }
}
