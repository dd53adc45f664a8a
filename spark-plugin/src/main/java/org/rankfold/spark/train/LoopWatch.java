// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

/** What the training loop tells and asks between steps. */
interface LoopWatch {
  /** Throws when the group is lost or the task cancelled. */
  void checkAbort();

  /** Tells how far the training has come, from 0 to 1. */
  void onProgress(String what, double fraction);

  /** Tells of an epoch; on the task of logical rank 0 only. */
  void onEpoch(EpochReport report);
}
