// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

/**
 * How a fold's threads share the work; it decides time, never bits.
 *
 * @param threads threads a block
 * @param flight loads that a thread has in flight where the world is compiled in
 * @param blocksPerMultiprocessor most blocks in the grid for each multiprocessor, each of which
 *     then folds several tiles; 0 for as many blocks as there are tiles
 * @param maxFixedWorld the largest world that is compiled in, at least 1
 */
record FoldShape(int threads, int flight, int blocksPerMultiprocessor, int maxFixedWorld) {
  /** Chosen by measurement: integration-tests/benchmarks/fold-cuda.md. */
  static final FoldShape DEFAULT = new FoldShape(512, 8, 0, 8);

  /** The grid for some tiles, at least 1. */
  int blocks(long tiles, int multiprocessors) {
    long most =
        blocksPerMultiprocessor == 0
            ? Integer.MAX_VALUE
            : (long) blocksPerMultiprocessor * multiprocessors;
    return (int) Math.max(1, Math.min(tiles, most));
  }
}
