// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import org.rankfold.spark.train.Score;

/**
 * The end of an {@link Mlp}, on the host wherever its layers are: softmax cross-entropy in double
 * with StrictMath's exp and log, whose bits no device has to give. Owned by one thread.
 */
final class SoftmaxLoss {
  private final double[] e;

  SoftmaxLoss(int classes) {
    e = new double[classes];
  }

  /**
   * Scores a row and adds it to a tally.
   *
   * @param z holds the row's sums from zAt on, one a class
   * @param delta gets the loss gradient by each of them, from deltaAt on; may be z itself
   */
  Score add(Score before, int label, float[] z, int zAt, float[] delta, int deltaAt) {
    int best = 0;
    for (int k = 1; k < e.length; k++) {
      best = z[zAt + k] > z[zAt + best] ? k : best;
    }
    double largest = z[zAt + best];
    double s = 0.0;
    for (int k = 0; k < e.length; k++) {
      e[k] = StrictMath.exp((double) z[zAt + k] - largest);
      s += e[k];
    }
    double loss = StrictMath.log(s) - ((double) z[zAt + label] - largest);
    for (int k = 0; k < e.length; k++) {
      delta[deltaAt + k] = (float) (e[k] / s - (k == label ? 1.0 : 0.0));
    }
    return before.plus(new Score(1, best == label ? 1 : 0, loss));
  }
}
