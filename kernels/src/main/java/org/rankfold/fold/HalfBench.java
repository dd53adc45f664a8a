// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/** Slots of halves, raw and widened; see {@link HalfLoops} for how they lie. */
final class HalfBench {
  final short[] raw = new short[Lanes.SLOTS * HalfLoops.BLOCK];
  final float[] wide = new float[Lanes.SLOTS * HalfLoops.BLOCK];

  /** Bit s: what slot s holds is in {@link #wide}, else in {@link #raw}. */
  int wideSlots;
}
