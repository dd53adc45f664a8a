// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.standalone;

import java.util.List;
import org.rankfold.examples.DigitsData;
import org.rankfold.examples.LabelledRow;
import org.rankfold.examples.Mlp;
import org.rankfold.spark.train.GradientModel;
import org.rankfold.spark.train.Score;

/** A user's model: a small network on the digits. */
final class DigitsModel implements GradientModel<LabelledRow> {
  private static final long serialVersionUID = 1L;
  private static final int HIDDEN = 16;

  private static Mlp network() {
    return new Mlp(DigitsData.PIXELS, HIDDEN, DigitsData.CLASSES);
  }

  @Override
  public int parameterCount() {
    return network().parameterCount();
  }

  @Override
  public void initialise(long seed, float[] parameters) {
    float[] initial = network().initialParameters(seed);
    System.arraycopy(initial, 0, parameters, 0, parameters.length);
  }

  @Override
  public Score gradientSum(float[] parameters, List<LabelledRow> rows, float[] gradient) {
    return network().gradientSum(parameters, rows, gradient);
  }

  @Override
  public Score evaluate(float[] parameters, List<LabelledRow> rows) {
    return network().evaluate(parameters, rows);
  }
}
