// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.view.View;

/** The loops of 16-bit types: those of floats, between a widening and a rounding of each block. */
final class HalfLanes extends FloatLanes {
  private final HalfLoops loops;

  HalfLanes(HalfLoops loops) {
    this.loops = loops;
  }

  @Override
  int blockElements() {
    return HalfLoops.BLOCK;
  }

  @Override
  int width(int n) {
    return n + (n & 1);
  }

  @Override
  Object port(View view) {
    return view;
  }

  @Override
  void load(Object port, int from, int n, float[] block) {
    loops.widen((View) port, from, n, block);
  }

  @Override
  void store(float[] block, int n, Object port, int at) {
    loops.narrow(block, n, (View) port, at);
  }

  /** Rounding makes NaNs canonical. */
  @Override
  boolean isWatched() {
    return false;
  }
}
