// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

/**
 * What a pass over some rows counted.
 *
 * @param rows how many rows were seen
 * @param correct how many of them the model put in the right class
 * @param lossSum the sum of their cross-entropy losses in nats, added in the order of the rows
 */
public record Tally(long rows, long correct, double lossSum) {
  /** No rows seen. */
  public static final Tally NONE = new Tally(0, 0, 0.0);

  /**
   * Adds another pass behind this one: this one's loss is the left operand of the one addition.
   *
   * @param next what was counted after this
   * @return both together
   */
  public Tally plus(Tally next) {
    return new Tally(rows + next.rows, correct + next.correct, lossSum + next.lossSum);
  }

  /**
   * The mean loss of a row.
   *
   * @return nats a row; NaN without rows
   */
  public double meanLoss() {
    return lossSum / (double) rows;
  }

  /**
   * The share of rows put in the right class.
   *
   * @return 0 .. 1; NaN without rows
   */
  public double accuracy() {
    return (double) correct / (double) rows;
  }
}
