// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;

/**
 * What a model made of some rows.
 *
 * @param rows how many
 * @param correct how many of them it put right; 0 where that has no meaning
 * @param lossSum the sum of their losses
 */
public record Score(long rows, long correct, double lossSum) implements Serializable {
  /** No rows. */
  public static final Score NONE = new Score(0, 0, 0.0);

  /**
   * This and then another: the losses meet in one addition, this one's on the left.
   *
   * @param next what comes after
   * @return both together
   */
  public Score plus(Score next) {
    return new Score(rows + next.rows, correct + next.correct, lossSum + next.lossSum);
  }

  /**
   * The mean loss of a row.
   *
   * @return NaN without rows
   */
  public double meanLoss() {
    return lossSum / (double) rows;
  }

  /**
   * The share of rows put right.
   *
   * @return 0 to 1; NaN without rows
   */
  public double accuracy() {
    return (double) correct / (double) rows;
  }
}
