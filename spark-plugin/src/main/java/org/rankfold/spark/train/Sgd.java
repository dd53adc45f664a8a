// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

/**
 * Stochastic gradient descent with momentum and weight decay.
 *
 * <p><b>Order of operations</b>, for each element by itself. Every operation is one IEEE 754 float
 * operation, rounded to nearest even; nothing is fused. g is the gradient, p the parameter, v the
 * element's velocity, +0 before the first step:
 *
 * <ol>
 *   <li>{@code a = weightDecay * p}, {@code d = g + a}; when weightDecay is 0 instead {@code d = g}
 *   <li>{@code b = momentum * v}, {@code v = b + d}; when momentum is 0 instead {@code v = d}
 *   <li>{@code c = learningRate * v}, {@code p = p - c}
 * </ol>
 *
 * @param learningRate at least 0
 * @param momentum at least 0, below 1
 * @param weightDecay at least 0; added to the gradient, as L2 regularisation is
 */
public record Sgd(float learningRate, float momentum, float weightDecay) implements Optimizer {
  /**
   * A checked optimizer.
   *
   * @param learningRate at least 0
   * @param momentum at least 0, below 1
   * @param weightDecay at least 0
   * @throws org.rankfold.errors.CollectiveException INVALID_ARGUMENT for a value out of its range
   */
  public Sgd {
    Checks.notNegative("learningRate", learningRate);
    Checks.share("momentum", momentum);
    Checks.notNegative("weightDecay", weightDecay);
  }

  /**
   * Plain gradient descent.
   *
   * @param learningRate at least 0
   */
  public Sgd(float learningRate) {
    this(learningRate, 0.0f, 0.0f);
  }

  /**
   * As this one, with momentum.
   *
   * @param newMomentum at least 0, below 1
   * @return an optimizer that differs in this only
   */
  public Sgd withMomentum(float newMomentum) {
    return new Sgd(learningRate, newMomentum, weightDecay);
  }

  /**
   * As this one, with weight decay.
   *
   * @param newWeightDecay at least 0
   * @return an optimizer that differs in this only
   */
  public Sgd withWeightDecay(float newWeightDecay) {
    return new Sgd(learningRate, momentum, newWeightDecay);
  }

  @Override
  public State begin(int parameterCount) {
    return new Velocity(this, new float[parameterCount]);
  }

  private static final class Velocity implements State {
    private final Sgd sgd;
    private final float[] v;

    Velocity(Sgd sgd, float[] v) {
      this.sgd = sgd;
      this.v = v;
    }

    @Override
    public void step(float[] parameters, float[] gradient) {
      Checks.lengths(parameters, gradient, v.length);
      takeIn(parameters, gradient);
      float learningRate = sgd.learningRate;
      for (int i = 0; i < v.length; i++) {
        parameters[i] = parameters[i] - learningRate * v[i];
      }
    }

    private void takeIn(float[] parameters, float[] gradient) {
      float momentum = sgd.momentum;
      float weightDecay = sgd.weightDecay;
      if (momentum == 0.0f && weightDecay == 0.0f) {
        System.arraycopy(gradient, 0, v, 0, v.length);
      } else if (momentum == 0.0f) {
        for (int i = 0; i < v.length; i++) {
          v[i] = gradient[i] + weightDecay * parameters[i];
        }
      } else if (weightDecay == 0.0f) {
        for (int i = 0; i < v.length; i++) {
          v[i] = momentum * v[i] + gradient[i];
        }
      } else {
        for (int i = 0; i < v.length; i++) {
          float d = gradient[i] + weightDecay * parameters[i];
          v[i] = momentum * v[i] + d;
        }
      }
    }
  }
}
