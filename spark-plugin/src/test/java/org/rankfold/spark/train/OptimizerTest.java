// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rankfold.digest.BitDigest;
import org.rankfold.errors.CollectiveException;
import org.rankfold.spark.SeedStream;
import org.rankfold.view.View;

/** The written order of operations, against exact arithmetic rounded once an operation. */
class OptimizerTest {
  private static final int ELEMENTS = 257;
  private static final int STEPS = 20;
  private static final MathContext EXACT = new MathContext(80);

  @Test
  void shouldTakeSgdStepsAsWritten() {
    for (float momentum : new float[] {0f, 0.9f}) {
      for (float decay : new float[] {0f, 0.01f}) {
        Sgd sgd = new Sgd(0.1f).withMomentum(momentum).withWeightDecay(decay);
        float[] wanted = start();
        float[] v = new float[ELEMENTS];
        for (int step = 0; step < STEPS; step++) {
          float[] g = gradient(step);
          for (int i = 0; i < ELEMENTS; i++) {
            float d = decay == 0 ? g[i] : add(g[i], times(decay, wanted[i]));
            v[i] = momentum == 0 ? d : add(times(momentum, v[i]), d);
            wanted[i] = minus(wanted[i], times(0.1f, v[i]));
          }
        }
        assertThat(run(sgd)).containsExactly(wanted);
      }
    }
  }

  @Test
  void shouldTakeAdamWStepsAsWritten() {
    AdamW adam = new AdamW(0.01f);
    float[] wanted = start();
    float[] m = new float[ELEMENTS];
    float[] v = new float[ELEMENTS];
    double q1 = 1;
    double q2 = 1;
    for (int step = 0; step < STEPS; step++) {
      float[] g = gradient(step);
      q1 *= adam.beta1();
      q2 *= adam.beta2();
      for (int i = 0; i < ELEMENTS; i++) {
        m[i] = add(times(adam.beta1(), m[i]), times(minus(1f, adam.beta1()), g[i]));
        v[i] = add(times(adam.beta2(), v[i]), times(minus(1f, adam.beta2()), times(g[i], g[i])));
        float x = over(m[i], (float) (1 - q1));
        float y = over(v[i], (float) (1 - q2));
        float u = over(x, add(exact(y).sqrt(EXACT).floatValue(), adam.epsilon()));
        float t = add(u, times(adam.weightDecay(), wanted[i]));
        wanted[i] = minus(wanted[i], times(0.01f, t));
      }
    }
    assertThat(run(adam)).containsExactly(wanted);
  }

  @Test
  void shouldKeepTheirBits() {
    assertThat(
            List.of(
                BitDigest.of(View.of(run(new Sgd(0.1f, 0.9f, 0.01f)))),
                BitDigest.of(View.of(run(new AdamW(0.01f))))))
        .containsExactly(
            "235b291cd9baab0a40f40b3eeac047d0b42a695a84e29b292517333e01b1c4e7",
            "f94ee1ac10da6853a301c6513139fb574efb53e8665c0c2c2e1e1def343fb753");
  }

  @Test
  void shouldRefuseSettingsOutOfRange() {
    assertThatThrownBy(() -> new Sgd(-1f))
        .isInstanceOf(CollectiveException.class)
        .hasMessage("learningRate=-1.0 is not a finite number of at least 0");
    assertThatThrownBy(() -> new Sgd(1f).withMomentum(1f)).hasMessageContaining("momentum=1.0");
    assertThatThrownBy(() -> new AdamW(Float.NaN)).hasMessageContaining("learningRate=NaN");
    assertThatThrownBy(() -> new Sgd(1f).begin(3).step(new float[3], new float[4]))
        .hasMessage("parameters=3 and gradient=4 are not both 3 floats long");
  }

  private static float[] run(Optimizer optimizer) {
    float[] parameters = start();
    Optimizer.State state = optimizer.begin(ELEMENTS);
    for (int step = 0; step < STEPS; step++) {
      state.step(parameters, gradient(step));
    }
    return parameters;
  }

  private static float[] start() {
    return spread(SeedStream.of(1, 0));
  }

  private static float[] gradient(int step) {
    return spread(SeedStream.of(2, step));
  }

  /** Both signs, many magnitudes, so that roundings differ. */
  private static float[] spread(SeedStream numbers) {
    float[] values = new float[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
      values[i] = (numbers.nextFloat() - 0.5f) * (float) StrictMath.pow(2, numbers.nextInt(16) - 8);
    }
    return values;
  }

  private static BigDecimal exact(float x) {
    return new BigDecimal((double) x);
  }

  private static float add(float x, float y) {
    return exact(x).add(exact(y)).floatValue();
  }

  private static float minus(float x, float y) {
    return exact(x).subtract(exact(y)).floatValue();
  }

  private static float times(float x, float y) {
    return exact(x).multiply(exact(y)).floatValue();
  }

  private static float over(float x, float y) {
    return exact(x).divide(exact(y), EXACT).floatValue();
  }
}
