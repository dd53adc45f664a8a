// SPDX-License-Identifier: Apache-2.0
package org.rankfold.metrics;

import org.rankfold.errors.ErrorCode;

/** Where an engine counts. Called from the communicator's thread; must return at once. */
public interface CollectiveMetrics {
  /** Counts nothing. */
  CollectiveMetrics NONE =
      new CollectiveMetrics() {
        @Override
        public void onCall(String kind, long bytes, long elapsedNs) {}

        @Override
        public void onFailure(ErrorCode code) {}
      };

  /**
   * A call ended well.
   *
   * @param kind for example {@code all_reduce}
   * @param bytes the size of an addend, a row or the buffer
   * @param elapsedNs from the call to its return
   */
  void onCall(String kind, long bytes, long elapsedNs);

  /**
   * A call ended in an error.
   *
   * @param code why
   */
  void onFailure(ErrorCode code);
}
