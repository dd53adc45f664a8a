// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.util.ArrayList;
import java.util.List;

/** One thread's arrays for one element type, kept between folds. */
final class Scratch<A> {
  /** As many operands as meet in one loop. */
  static final int OPERANDS = 4;

  private final Lanes<A> lanes;
  private final List<A> addends = new ArrayList<>();
  private final A sum;
  private final A right;
  private final A watch;
  private final List<A> rows = new ArrayList<>();
  private final List<Integer> rowLengths = new ArrayList<>();

  Scratch(Lanes<A> lanes) {
    this.lanes = lanes;
    for (int i = 0; i < OPERANDS; i++) {
      addends.add(block());
    }
    sum = block();
    right = block();
    watch = block();
  }

  private A block() {
    return lanes.newArray(lanes.blockElements());
  }

  /** The block for the addend in place {@code slot} of a loop. */
  A addend(int slot) {
    return addends.get(slot);
  }

  /** The block for the running sum. */
  A sum() {
    return sum;
  }

  /** The block for the right half of a tree's sum. */
  A right() {
    return right;
  }

  /** The sum of blocks that are watched for NaNs; all zeros between folds. */
  A watch() {
    return watch;
  }

  /** An array of at least {@code length} for the sums of a stretch; a tree needs more than one. */
  A row(int number, int length) {
    while (rows.size() <= number) {
      rows.add(null);
      rowLengths.add(0);
    }
    if (rowLengths.get(number) < length) {
      rows.set(number, lanes.newArray(length));
      rowLengths.set(number, length);
    }
    return rows.get(number);
  }
}
