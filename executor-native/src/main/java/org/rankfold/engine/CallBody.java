// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

/** What a collective does between the start of a call, when all headers agreed, and its exit. */
interface CallBody {
  /** Moves and folds; waits through the engine's {@link Await} only. */
  void run(Call call);
}
