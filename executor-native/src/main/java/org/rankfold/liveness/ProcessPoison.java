// SPDX-License-Identifier: Apache-2.0
package org.rankfold.liveness;

import java.util.concurrent.atomic.AtomicReference;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Remembers that this process is no longer safe: a peer may still write into memory of a call that
 * is over. One instance a process; new groups are refused while it is poisoned.
 */
public final class ProcessPoison {
  /** The process's own. */
  public static final ProcessPoison PROCESS = new ProcessPoison();

  private final AtomicReference<CollectiveException> cause = new AtomicReference<>();

  /** A poison that nothing has taken yet; other than {@link #PROCESS} for tests. */
  public ProcessPoison() {}

  /**
   * Poisons the process; the first cause stays.
   *
   * @param failure why
   */
  public void poison(CollectiveException failure) {
    cause.compareAndSet(null, failure);
  }

  /**
   * Refuses when poisoned.
   *
   * @throws CollectiveException PROCESS_POISONED with the first cause
   */
  public void requireClean() {
    CollectiveException first = cause.get();
    if (first != null) {
      throw new CollectiveException(
          ErrorCode.PROCESS_POISONED,
          "this process refuses new groups since: " + first.getMessage(),
          first);
    }
  }
}
