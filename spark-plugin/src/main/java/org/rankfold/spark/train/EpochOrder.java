// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import org.rankfold.spark.SeedStream;

/**
 * In which order a logical rank visits its rows in an epoch: a Fisher-Yates shuffle that depends on
 * (seed, epoch, logical rank) and the number of rows only. From the identity, for i from rows - 1
 * down to 1, elements i and {@code nextInt(i + 1)} trade places; the numbers are those of {@code
 * SeedStream.of(seed, rank).child(epoch)}.
 */
final class EpochOrder {
  private EpochOrder() {}

  static int[] of(long seed, int epoch, int rank, int rows) {
    SeedStream numbers = SeedStream.of(seed, rank).child(epoch);
    int[] order = new int[rows];
    for (int i = 0; i < rows; i++) {
      order[i] = i;
    }
    for (int i = rows - 1; i > 0; i--) {
      int j = numbers.nextInt(i + 1);
      int swap = order[i];
      order[i] = order[j];
      order[j] = swap;
    }
    return order;
  }
}
