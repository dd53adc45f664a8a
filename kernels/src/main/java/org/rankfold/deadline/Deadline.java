// SPDX-License-Identifier: Apache-2.0
package org.rankfold.deadline;

import java.util.concurrent.TimeUnit;

/**
 * A point on the {@link System#nanoTime()} line by which a wait must have ended.
 *
 * @param expiresNs the point, in nanoseconds of the caller's monotonic clock
 * @param budgetNs how long the wait was allowed to take in all, for messages
 */
public record Deadline(long expiresNs, long budgetNs) {
  /**
   * A deadline some time from now.
   *
   * @param nowNs the caller's monotonic clock
   * @param budgetNs how long the wait may take, at least 0
   * @return the deadline; it never wraps into the past
   */
  public static Deadline after(long nowNs, long budgetNs) {
    if (budgetNs < 0) {
      throw new IllegalArgumentException("budgetNs=" + budgetNs + " < 0");
    }
    return new Deadline(nowNs + Math.min(budgetNs, Long.MAX_VALUE / 2), budgetNs);
  }

  /**
   * Whether the point has passed.
   *
   * @param nowNs the caller's monotonic clock
   * @return true at the point and after it
   */
  public boolean isExpired(long nowNs) {
    return nowNs - expiresNs >= 0;
  }

  /**
   * How long is left.
   *
   * @param nowNs the caller's monotonic clock
   * @return nanoseconds, 0 when expired
   */
  public long remainingNs(long nowNs) {
    return Math.max(0, expiresNs - nowNs);
  }

  /**
   * The whole budget in seconds, for messages.
   *
   * @return seconds
   */
  public double budgetSeconds() {
    return (double) budgetNs / TimeUnit.SECONDS.toNanos(1);
  }
}
