// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/**
 * The loops of one 16-bit type. Each works on whole blocks; what lies past the elements in use is
 * computed and never stored.
 *
 * <p>Raw halves lie in slots of {@link #BLOCK} in an array of their own, wide ones likewise, but
 * there the even elements of a slot come first and then the odd ones: two neighbours are one int,
 * and taking an int apart needs no change of lane width.
 */
interface HalfLoops {
  /** Elements a block. */
  int BLOCK = 256;

  /** Where the odd elements of a wide slot start. */
  int ODD = BLOCK / 2;

  /** wide slot = raw slot. */
  void widen(short[] raw, float[] wide, int slot);

  /** raw slot 0 = wide slot 0, rounded to nearest even, every NaN the canonical one. */
  void narrow(float[] wide, short[] raw);

  /** wide slot 0 = ((raw slot 0 + raw slot 1) + raw slot 2) + raw slot 3; others are clobbered. */
  void sum4(short[] raw, float[] wide);

  /** wide slot 0 = ((wide slot 0 + raw slot 1) + raw slot 2) + raw slot 3. */
  void add3(short[] raw, float[] wide);

  /** Says how they are made, for people. */
  String description();
}
