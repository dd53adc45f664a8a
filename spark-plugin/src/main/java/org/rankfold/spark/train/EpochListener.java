// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

/** Is told of every epoch. */
@FunctionalInterface
public interface EpochListener {
  /**
   * Called in the driver once for every epoch, in order: right after the epoch where the task of
   * logical rank 0 runs in the driver's JVM, as in local mode; on a cluster after the last epoch.
   * An exception ends the training.
   *
   * @param report the epoch that ended
   */
  void onEpoch(EpochReport report);
}
