// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/** A block of raw halves and the slots of widened ones; see {@link HalfLoops} for how they lie. */
final class HalfBench {
  final short[] raw = new short[HalfLoops.BLOCK];
  final float[] wide = new float[Lanes.SLOTS * HalfLoops.BLOCK];
}
