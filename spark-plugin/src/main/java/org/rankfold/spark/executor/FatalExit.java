// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.executor;

import java.util.function.IntConsumer;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one place that ends a process: a real executor whose memory a peer may still write to. In
 * local mode the process is the user's own; there the engine has poisoned it, and new groups are
 * refused.
 */
final class FatalExit {
  /** Also what Spark's own reaper ends an executor with. */
  static final int STATUS = 57;

  private static final Logger LOG = LoggerFactory.getLogger(FatalExit.class);
  private static final String LOCAL_MODE = "driver";

  private final String executor;
  private final IntConsumer halt;

  /**
   * The rule in a process.
   *
   * @param executor Spark's executor id
   * @param halt ends the process at once; does not return
   */
  FatalExit(String executor, IntConsumer halt) {
    this.executor = executor;
    this.halt = halt;
  }

  /** Ends the process if the failure demands it. */
  void onFailure(Throwable failure) {
    if (!executor.equals(LOCAL_MODE)
        && failure instanceof CollectiveException known
        && known.category() == ErrorCategory.PROCESS_FATAL) {
      LOG.error("executor {} ends with status {}: its memory is not safe", executor, STATUS, known);
      halt.accept(STATUS);
    }
  }
}
