// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import org.rankfold.errors.ErrorCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How often a run is submitted, and what its user is told when it has failed for good: the first
 * attempt's first cause first. For the thread that runs.
 */
final class Resubmission {
  private static final Logger LOG = LoggerFactory.getLogger(Resubmission.class);
  private static final long LONGEST_WAIT_NS = TimeUnit.MINUTES.toNanos(1);

  private final String name;
  private final int most;
  private final Deadline deadline;
  private final List<CollectiveException> failures = new ArrayList<>();
  private long waitNs;
  private int attempt;

  /** A run that is about to be submitted for the first time. */
  Resubmission(String name, ConfigSource source, long nowNs) {
    this.name = name;
    this.most = 1 + ConfigKeys.RETRY_ATTEMPTS.of(source);
    this.waitNs = ConfigKeys.RETRY_WAIT.of(source);
    this.deadline = Deadline.after(nowNs, ConfigKeys.RUN_TIMEOUT.of(source));
  }

  /** Begins an attempt; its number, from 1. */
  int next() {
    return ++attempt;
  }

  int current() {
    return attempt;
  }

  /** Blocks until the next attempt is due, or throws what the user sees. */
  void onFailure(CollectiveException failure, boolean isStopped, long nowNs) {
    failures.add(failure);
    if (attempt >= most || isStopped || !mayHelp(failure) || deadline.isExpired(nowNs + waitNs)) {
      throw concluded();
    }
    LOG.warn(
        "{}: attempt {} of {} failed, the next in {} s: {}: {}",
        name,
        attempt,
        most,
        String.format(Locale.ROOT, "%.1f", waitNs / 1e9),
        failure.code(),
        failure.getMessage());
    try {
      TimeUnit.NANOSECONDS.sleep(waitNs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failures.add(
          new CollectiveException(
              ErrorCode.CANCELLED, name + ": interrupted before attempt " + (attempt + 1), e));
      throw concluded();
    }
    waitNs = Math.min(2 * waitNs, LONGEST_WAIT_NS);
  }

  /**
   * Whether the same bodies may end well next time: when the cluster failed them. Not when the user
   * asked for something undefined, threw, cancelled, or let a task not come to a call: such a task
   * lives.
   */
  static boolean mayHelp(CollectiveException failure) {
    return failure.category() == ErrorCategory.GROUP_LOST
        && switch (failure.code()) {
          case USER_CODE_FAILED, CANCELLED, TIMEOUT -> false;
          default -> true;
        };
  }

  private CollectiveException concluded() {
    CollectiveException first = failures.get(0);
    if (failures.size() == 1) {
      return first;
    }
    StringBuilder text = new StringBuilder(first.getMessage());
    text.append(" (attempt 1 of ").append(most);
    for (int i = 1; i < failures.size(); i++) {
      CollectiveException later = failures.get(i);
      text.append("; attempt ")
          .append(i + 1)
          .append(": ")
          .append(later.code())
          .append(": ")
          .append(later.getMessage());
    }
    CollectiveException told =
        new CollectiveException(first.code(), text.append(')').toString(), first);
    failures.subList(1, failures.size()).forEach(told::addSuppressed);
    return told;
  }
}
