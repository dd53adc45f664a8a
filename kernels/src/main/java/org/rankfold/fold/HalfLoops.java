// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.view.View;

/**
 * Moves blocks of one 16-bit type between views and float accumulators. Accumulators lie the even
 * elements first, then the odd ones: two neighbours are one int, and taking an int apart needs no
 * change of lane width.
 */
interface HalfLoops {
  /** Elements a block, even. */
  int BLOCK = 512;

  /**
   * Widens n elements of a view: element 2i to {@code block[i]}, element 2i + 1 to {@code block[h +
   * i]}, where h is n/2 rounded up. With n odd, {@code block[2h - 1]} is left with any value.
   */
  void widen(View view, int from, int n, float[] block);

  /** The reverse: rounds to nearest even, every NaN the canonical one. */
  void narrow(float[] block, int n, View view, int at);
}
