// SPDX-License-Identifier: Apache-2.0
package org.rankfold.errors;

/** What became of the output of a collective call that failed. */
public enum OutState {
  /** No element of the output was written. */
  UNTOUCHED,
  /** Some elements may hold results, others what they held before. */
  PARTLY_WRITTEN,
  /** Every element holds its result; the call failed afterwards. */
  COMPLETE,
  /** The failure has no output: it is not a collective's, or the output's state cannot be known. */
  NOT_APPLICABLE
}
