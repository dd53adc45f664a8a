// SPDX-License-Identifier: Apache-2.0
package org.rankfold.deadline;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.rankfold.errors.CollectiveException;

/** Trips once and keeps the first cause; every wait of a group looks at it. Thread-safe. */
public final class AbortLatch {
  private final AtomicReference<CollectiveException> cause = new AtomicReference<>();

  /** A latch that has not tripped. */
  public AbortLatch() {}

  /**
   * Trips the latch unless it has tripped before.
   *
   * @param failure what went wrong
   * @return the first cause: {@code failure}, or an earlier one that stays
   */
  public CollectiveException trip(CollectiveException failure) {
    Objects.requireNonNull(failure, "failure");
    CollectiveException first = cause.compareAndExchange(null, failure);
    return first == null ? failure : first;
  }

  /**
   * Whether the latch has tripped.
   *
   * @return true once tripped, for ever
   */
  public boolean isTripped() {
    return cause.get() != null;
  }

  /**
   * The first cause.
   *
   * @return the exception that tripped the latch, or null
   */
  public CollectiveException cause() {
    return cause.get();
  }
}
