// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

/** An asynchronous collective on its way. Thread-safe. */
public interface CollectiveHandle {
  /**
   * Blocks until the call ended; bounded as the blocking call is. Returns at once when it has
   * ended.
   *
   * @throws org.rankfold.errors.CollectiveException the call's error, as the blocking call throws
   *     it, each time; CANCELLED when the waiting thread is interrupted, while the call itself goes
   *     on
   */
  void await();

  /**
   * Whether the call ended, well or not.
   *
   * @return true once its views are the caller's again
   */
  boolean isDone();
}
