// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.List;
import org.rankfold.spark.SeedStream;

/** Logistic regression on two features and a bias, in a written order. */
final class Logistic implements GradientModel<Sample> {
  private static final long serialVersionUID = 1L;

  @Override
  public int parameterCount() {
    return 3;
  }

  @Override
  public void initialise(long seed, float[] parameters) {
    SeedStream numbers = SeedStream.of(seed, 0);
    for (int p = 0; p < parameters.length; p++) {
      parameters[p] = numbers.nextFloat() - 0.5f;
    }
  }

  @Override
  public Score gradientSum(float[] parameters, List<Sample> rows, float[] gradient) {
    return pass(parameters, rows, gradient);
  }

  @Override
  public Score evaluate(float[] parameters, List<Sample> rows) {
    return pass(parameters, rows, new float[3]);
  }

  private static Score pass(float[] w, List<Sample> rows, float[] gradient) {
    Score score = Score.NONE;
    for (Sample row : rows) {
      float x = (float) row.first();
      float y = (float) row.second();
      double z = (double) (w[0] * x + w[1] * y + w[2]) * (row.label() == 1 ? 1 : -1);
      double loss = StrictMath.log1p(StrictMath.exp(-z));
      float d = (float) ((row.label() == 1 ? -1 : 1) / (1 + StrictMath.exp(z)));
      gradient[0] += d * x;
      gradient[1] += d * y;
      gradient[2] += d;
      score = score.plus(new Score(1, z > 0 ? 1 : 0, loss));
    }
    return score;
  }
}
