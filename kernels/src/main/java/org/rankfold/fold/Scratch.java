// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.util.ArrayList;
import java.util.List;

/** One thread's blocks for one element type, kept between folds. */
final class Scratch<A> {
  /** As many operands as meet in one loop. */
  static final int OPERANDS = 4;

  private final Lanes<A> lanes;
  private final List<A> addends = new ArrayList<>();
  private final List<A> partials = new ArrayList<>();
  private final A watch;

  Scratch(Lanes<A> lanes) {
    this.lanes = lanes;
    for (int i = 0; i < OPERANDS; i++) {
      addends.add(lanes.newBlock());
    }
    watch = lanes.newBlock();
  }

  /** The block for the addend in place {@code slot} of a loop. */
  A addend(int slot) {
    return addends.get(slot);
  }

  /** The block for a partial result; a tree needs a few. */
  A partial(int depth) {
    while (partials.size() <= depth) {
      partials.add(lanes.newBlock());
    }
    return partials.get(depth);
  }

  /** The sum of blocks that are watched for NaNs; all zeros between folds. */
  A watch() {
    return watch;
  }
}
