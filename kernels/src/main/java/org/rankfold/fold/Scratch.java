// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/** One thread's memory for one element type, kept between folds. */
final class Scratch<B> {
  private final Lanes<B> lanes;
  private final B bench;
  private Object[] rows = new Object[0];
  private int[] rowBlocks = new int[0];

  Scratch(Lanes<B> lanes) {
    this.lanes = lanes;
    this.bench = lanes.newBench();
  }

  B bench() {
    return bench;
  }

  /** A row of at least so many blocks for the sums of a stretch; a tree needs more than one. */
  Object row(int number, int blocks) {
    if (number >= rows.length) {
      rows = java.util.Arrays.copyOf(rows, number + 1);
      rowBlocks = java.util.Arrays.copyOf(rowBlocks, number + 1);
    }
    if (rowBlocks[number] < blocks) {
      rows[number] = lanes.newRow(blocks);
      rowBlocks[number] = blocks;
    }
    return rows[number];
  }
}
