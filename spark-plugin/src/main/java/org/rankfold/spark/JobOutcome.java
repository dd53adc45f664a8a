// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.io.NotSerializableException;
import java.util.Locale;
import org.apache.spark.SparkContext;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.spark.driver.DriverProcess;
import org.rankfold.spark.driver.FailureNote;
import org.rankfold.spark.driver.FirstCauses;

/** What a failed Spark job means to whoever called run. */
final class JobOutcome {
  /** How Spark begins the line that says which executor ended and why. */
  private static final String EXECUTOR_LOST = "ExecutorLostFailure";

  private JobOutcome() {}

  /** The first cause where a task left one, else Spark's own words, as short as they allow. */
  static CollectiveException of(String name, Exception failure, FirstCauses causes) {
    if (failure instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return new CollectiveException(
          ErrorCode.CANCELLED, name + ": interrupted while its tasks ran", failure);
    }
    String text = String.valueOf(failure.getMessage());
    String firstLine = text.lines().findFirst().orElse(text);
    if (isCancelled(firstLine)) {
      return new CollectiveException(ErrorCode.CANCELLED, name + ": " + firstLine, failure);
    }
    String lost =
        text.lines().filter(line -> line.startsWith(EXECUTOR_LOST)).findFirst().orElse(null);
    FailureNote first = causes.first().orElse(null);
    // A task that Spark killed because an executor was lost is no first cause.
    if (first != null && (lost == null || first.code() != ErrorCode.CANCELLED)) {
      return first.toException();
    }
    if (lost != null) {
      return new CollectiveException(ErrorCode.PEER_FAILED, name + ": " + lost, failure);
    }
    if (isNotSerializable(failure)) {
      return new CollectiveException(
          ErrorCode.INVALID_ARGUMENT,
          name + ": the body or what it refers to is not serializable: " + firstLine,
          failure);
    }
    boolean chain = text.contains("SPARK-24820");
    return new CollectiveException(
        chain ? ErrorCode.UNSUPPORTED : ErrorCode.USER_CODE_FAILED,
        name + ": " + firstLine,
        failure);
  }

  /** Adds who was missing, where the driver knows it and it may be why. */
  static CollectiveException withMissing(
      CollectiveException outcome, SparkContext spark, String run) {
    boolean isOfGroup =
        switch (outcome.code()) {
          case PEER_FAILED, TIMEOUT, PROTOCOL -> true;
          default -> false;
        };
    String missing = isOfGroup ? DriverProcess.CURRENT.missing(spark, run) : null;
    DriverProcess.CURRENT.conclude(spark, run);
    return missing == null
        ? outcome
        : new CollectiveException(
            outcome.code(),
            outcome.getMessage() + "; the driver saw " + missing,
            outcome.outState(),
            outcome.getCause());
  }

  private static boolean isCancelled(String firstLine) {
    String lower = firstLine.toLowerCase(Locale.ROOT);
    return lower.contains("cancelled") && lower.contains("job");
  }

  private static boolean isNotSerializable(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof NotSerializableException) {
        return true;
      }
    }
    return false;
  }
}
