// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rankfold.view.View;

/** Gradients in heap arrays, by the model's own Java. */
final class HostGradients<R> implements Gradients<R> {
  private final GradientModel<R> model;
  private final float[][] gradients;
  private final List<View> views = new ArrayList<>();
  private float[] parameters;

  HostGradients(GradientModel<R> model, int ranks) {
    this.model = model;
    gradients = new float[ranks][model.parameterCount()];
    for (float[] gradient : gradients) {
      views.add(View.of(gradient));
    }
  }

  @Override
  public void use(float[] newParameters) {
    parameters = newParameters;
  }

  @Override
  public void clear(int rank) {
    Arrays.fill(gradients[rank], 0.0f);
  }

  @Override
  public Score add(int rank, List<R> rows) {
    return model.gradientSum(parameters, rows, gradients[rank]);
  }

  @Override
  public Score evaluate(List<R> rows) {
    return model.evaluate(parameters, rows);
  }

  @Override
  public List<View> views() {
    return views;
  }

  @Override
  public float[] first() {
    return gradients[0];
  }

  @Override
  public void close() {}
}
