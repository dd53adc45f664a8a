// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/**
 * The loops of one 16-bit type. Each works on whole blocks; what lies past the elements in use is
 * computed and never stored.
 *
 * <p>Raw halves are one block; wide ones lie in slots of {@link #BLOCK}, but the even elements of a
 * slot come first and then the odd ones: two neighbours are one int, and taking an int apart needs
 * no change of lane width.
 */
interface HalfLoops {
  /** Elements a block. */
  int BLOCK = 256;

  /** Where the odd elements of a wide slot start. */
  int ODD = BLOCK / 2;

  /** wide slot = raw. */
  void widen(short[] raw, float[] wide, int slot);

  /**
   * raw = wide slot 0, rounded to nearest even, every NaN the canonical one; may clobber slot 1.
   */
  void narrow(float[] wide, short[] raw);

  /** Says how they are made, for people. */
  String description();
}
