// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

/**
 * Adam with decoupled weight decay (Loshchilov and Hutter, 2019).
 *
 * <p><b>Order of operations.</b> Once a step, in double, one IEEE 754 operation each: {@code q1 =
 * q1 * beta1} and {@code q2 = q2 * beta2} (both 1 before the first step, the betas widened), then
 * {@code c1 = (float) (1 - q1)} and {@code c2 = (float) (1 - q2)}.
 *
 * <p>Then for each element by itself, every operation one float operation, rounded to nearest even;
 * nothing is fused. g is the gradient, p the parameter, m and v the element's moments, +0 before
 * the first step; {@code r1 = 1 - beta1}, {@code r2 = 1 - beta2}, {@code sqrt} is the correctly
 * rounded one:
 *
 * <ol>
 *   <li>{@code a = beta1 * m}, {@code b = r1 * g}, {@code m = a + b}
 *   <li>{@code s = g * g}, {@code d = beta2 * v}, {@code e = r2 * s}, {@code v = d + e}
 *   <li>{@code x = m / c1}, {@code y = v / c2}, {@code z = sqrt(y)}, {@code w = z + epsilon},
 *       {@code u = x / w}
 *   <li>{@code k = weightDecay * p}, {@code t = u + k}, {@code f = learningRate * t}, {@code p = p
 *       - f}
 * </ol>
 *
 * @param learningRate at least 0
 * @param beta1 at least 0, below 1
 * @param beta2 at least 0, below 1
 * @param epsilon at least 0
 * @param weightDecay at least 0; taken from the parameter, not from the gradient
 */
public record AdamW(float learningRate, float beta1, float beta2, float epsilon, float weightDecay)
    implements Optimizer {
  /**
   * A checked optimizer.
   *
   * @param learningRate at least 0
   * @param beta1 at least 0, below 1
   * @param beta2 at least 0, below 1
   * @param epsilon at least 0
   * @param weightDecay at least 0
   * @throws org.rankfold.errors.CollectiveException INVALID_ARGUMENT for a value out of its range
   */
  public AdamW {
    Checks.notNegative("learningRate", learningRate);
    Checks.share("beta1", beta1);
    Checks.share("beta2", beta2);
    Checks.notNegative("epsilon", epsilon);
    Checks.notNegative("weightDecay", weightDecay);
  }

  /**
   * The usual betas 0.9 and 0.999, epsilon 1e-8, weight decay 0.01.
   *
   * @param learningRate at least 0
   */
  public AdamW(float learningRate) {
    this(learningRate, 0.9f, 0.999f, 1e-8f, 0.01f);
  }

  /**
   * As this one, with another weight decay.
   *
   * @param newWeightDecay at least 0
   * @return an optimizer that differs in this only
   */
  public AdamW withWeightDecay(float newWeightDecay) {
    return new AdamW(learningRate, beta1, beta2, epsilon, newWeightDecay);
  }

  @Override
  public State begin(int parameterCount) {
    return new Moments(this, new float[parameterCount], new float[parameterCount]);
  }

  private static final class Moments implements State {
    private final AdamW adam;
    private final float[] m;
    private final float[] v;
    private double q1 = 1.0;
    private double q2 = 1.0;

    Moments(AdamW adam, float[] m, float[] v) {
      this.adam = adam;
      this.m = m;
      this.v = v;
    }

    @Override
    public void step(float[] parameters, float[] gradient) {
      Checks.lengths(parameters, gradient, m.length);
      q1 = q1 * (double) adam.beta1;
      q2 = q2 * (double) adam.beta2;
      takeIn(gradient);
      float c1 = (float) (1.0 - q1);
      float c2 = (float) (1.0 - q2);
      float learningRate = adam.learningRate;
      float epsilon = adam.epsilon;
      float weightDecay = adam.weightDecay;
      for (int i = 0; i < m.length; i++) {
        // The double root of a float, rounded to float, is the correctly rounded float root.
        float z = (float) Math.sqrt((double) (v[i] / c2));
        float u = (m[i] / c1) / (z + epsilon);
        parameters[i] = parameters[i] - learningRate * (u + weightDecay * parameters[i]);
      }
    }

    private void takeIn(float[] gradient) {
      float beta1 = adam.beta1;
      float beta2 = adam.beta2;
      float r1 = 1.0f - beta1;
      float r2 = 1.0f - beta2;
      for (int i = 0; i < m.length; i++) {
        float g = gradient[i];
        m[i] = beta1 * m[i] + r1 * g;
        v[i] = beta2 * v[i] + r2 * (g * g);
      }
    }
  }
}
