// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.List;

/**
 * What a training came to: parameters, how it got there, and the digest that proves them. An
 * immutable value.
 */
public final class TrainedModel {
  private final TrainingOutcome outcome;

  TrainedModel(TrainingOutcome outcome) {
    this.outcome = outcome;
  }

  /**
   * The parameters after the last step.
   *
   * @return a copy, the caller's own
   */
  public float[] parameters() {
    return outcome.parameters().clone();
  }

  /**
   * SHA-256 of the parameters' bits, f32 little-endian, as every task had them.
   *
   * @return 64 lower-case hexadecimal digits
   */
  public String sha256() {
    return outcome.sha256();
  }

  /**
   * Rows trained on.
   *
   * @return rows of an epoch
   */
  public long rows() {
    return outcome.rows();
  }

  /**
   * Steps taken in all epochs.
   *
   * @return steps
   */
  public long steps() {
    return outcome.steps();
  }

  /**
   * One report for each epoch, in order.
   *
   * @return an unmodifiable list
   */
  public List<EpochReport> epochs() {
    return List.copyOf(outcome.epochs());
  }
}
