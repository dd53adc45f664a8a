// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

/**
 * Which of a logical rank's rows belong to which step of an epoch; the same every epoch and for any
 * number of tasks, because it follows from the ranks' row counts and the global batch alone.
 *
 * <p>All rows of the world stand in one line: row j of rank r (of n rows) at the fraction (2j + 1)
 * / 2n of its rank, lower ranks first where fractions are equal. Step s takes the places from s *
 * globalBatch on. So every step but the last has exactly globalBatch rows, no row is left out, and
 * ranks with more rows give more to each step, in proportion.
 */
final class BatchPlan {
  private final long[] counts;
  private final long rows;
  private final int globalBatch;

  BatchPlan(long[] counts, int globalBatch) {
    this.counts = counts.clone();
    this.globalBatch = globalBatch;
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    rows = sum;
  }

  long rows() {
    return rows;
  }

  /** Steps an epoch: ceil(rows / globalBatch). */
  long steps() {
    return (rows + globalBatch - 1) / globalBatch;
  }

  /** Rows of all ranks in a step. */
  long rowsOf(long step) {
    return Math.min(globalBatch, rows - step * globalBatch);
  }

  /** How many of a rank's rows belong to steps before this one. */
  int before(int rank, long step) {
    long from = step * globalBatch;
    int low = 0;
    int high = (int) counts[rank];
    while (low < high) {
      int mid = (low + high) >>> 1;
      if (place(rank, mid) < from) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    return low;
  }

  /** The place of a row in the line. Counts fit an int, so products fit a long. */
  private long place(int rank, int row) {
    long n = counts[rank];
    long place = 0;
    for (int q = 0; q < counts.length; q++) {
      long x = (2L * row + 1) * counts[q];
      if (x > 0) {
        // Rows i of q with (2i + 1) * n below x, or equal to it for a lower rank.
        place += ((q < rank ? x : x - 1) / n + 1) / 2;
      }
    }
    return place;
  }
}
