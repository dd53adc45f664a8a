// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/**
 * Sums of arrays where they lie, when all of them start at the same index: the one case that
 * HotSpot makes vectors of without copying blocks.
 *
 * @param <A> an array of the element type
 */
interface LevelLoops<A> {
  /** The most operands of a loop. */
  int OPERANDS = 5;

  /**
   * d[j] = the sum from the left of the first {@code count} operands, two to {@link #OPERANDS}, for
   * j in [from, to); d may be one of them.
   */
  void sum(A d, Object[] operands, int count, int from, int to);
}
