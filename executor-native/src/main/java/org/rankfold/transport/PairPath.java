// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

/** How two tasks exchange bytes. */
public enum PairPath {
  /** Each reads and writes the other's memory in place. */
  MAPPED,
  /** Bytes travel through slots. */
  STAGED,
  /**
   * A small all-reduce whose records hold copies of the addends: every task folds all of them, and
   * nobody is inside another's memory. All pairs of a call or none.
   */
  CARRIED
}
