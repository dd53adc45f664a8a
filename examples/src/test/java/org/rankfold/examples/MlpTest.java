// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.rankfold.spark.train.Score;

final class MlpTest {
  /** Two hidden layers, widths that no vector divides, more rows than two blocks. */
  private static final Mlp ODD = new Mlp(50, 33, 17, 10);

  private static final int ODD_ROWS = 2 * MlpBlock.ROWS + 5;

  @Test
  void shouldReachCommittedHashWhenInputsAreFixed() throws NoSuchAlgorithmException {
    float[] gradient = new float[ODD.parameterCount()];
    Score tally = ODD.gradientSum(ODD.initialParameters(42), rows(ODD, ODD_ROWS, 7), gradient);

    ByteBuffer bytes =
        ByteBuffer.allocate(gradient.length * Float.BYTES + 2 * Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (float g : gradient) {
      bytes.putInt(Float.floatToRawIntBits(g));
    }
    bytes.putLong(Double.doubleToRawLongBits(tally.lossSum())).putLong(tally.correct());
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes.array());
    assertEquals(
        "3421707f74157a97f5e535e1b1f691bcd99acecb5b90a2e3f03d20e7148ee51f",
        HexFormat.of().formatHex(hash));
  }

  @Test
  void shouldMatchFiniteDifferencesWhenParametersMove() {
    Mlp mlp = new Mlp(3, 5, 4, 3);
    List<LabelledRow> rows = rows(mlp, 6, 3);
    float[] parameters = mlp.initialParameters(5);
    SplitMix biases = new SplitMix(11);
    for (int layer = 0; layer < mlp.layers(); layer++) {
      for (int b = 0; b < mlp.units(layer + 1); b++) {
        parameters[mlp.biasesAt(layer) + b] = 0.3f * biases.signedUnit();
      }
    }
    float[] gradient = new float[mlp.parameterCount()];
    Score tally = mlp.gradientSum(parameters, rows, gradient);

    double[] at = new double[parameters.length];
    Arrays.setAll(at, p -> parameters[p]);
    assertEquals(lossInDouble(mlp, at, rows), tally.lossSum(), 1e-5);
    double step = 1e-5;
    for (int p = 0; p < at.length; p++) {
      double kept = at[p];
      at[p] = kept + step;
      double above = lossInDouble(mlp, at, rows);
      at[p] = kept - step;
      double below = lossInDouble(mlp, at, rows);
      at[p] = kept;
      assertEquals((above - below) / (2 * step), gradient[p], 2e-5, "parameter " + p);
    }
  }

  @Test
  void shouldGiveTheWrittenBitsWhenFollowedToTheLetter() {
    List<LabelledRow> rows = rows(ODD, ODD_ROWS, 7);
    float[] parameters = ODD.initialParameters(3);
    float[] fast = new float[ODD.parameterCount()];
    Score tally = ODD.gradientSum(parameters, rows, fast);

    float[] written = new float[ODD.parameterCount()];
    double lossSum = 0;
    for (LabelledRow row : rows) {
      lossSum += MlpByTheLetter.addGradient(ODD, parameters, row, written);
    }
    assertArrayEquals(bits(written), bits(fast));
    assertEquals(lossSum, tally.lossSum());
  }

  @Test
  void shouldGiveSameBitsWhenRowsComeOneByOne() {
    List<LabelledRow> rows = rows(ODD, ODD_ROWS, 7);
    float[] parameters = ODD.initialParameters(1);
    float[] together = new float[ODD.parameterCount()];
    Score all = ODD.gradientSum(parameters, rows, together);

    float[] single = new float[ODD.parameterCount()];
    Score sum = Score.NONE;
    for (LabelledRow row : rows) {
      sum = sum.plus(ODD.gradientSum(parameters, List.of(row), single));
    }
    assertEquals(all, sum);
    assertArrayEquals(bits(together), bits(single));
  }

  @Test
  void shouldGiveOtherBitsWhenRowsAreReversed() {
    List<LabelledRow> rows = rows(ODD, ODD_ROWS, 7);
    List<LabelledRow> reversed = new ArrayList<>(rows);
    Collections.reverse(reversed);
    float[] parameters = ODD.initialParameters(1);
    float[] forth = new float[ODD.parameterCount()];
    float[] back = new float[ODD.parameterCount()];
    ODD.gradientSum(parameters, rows, forth);
    ODD.gradientSum(parameters, reversed, back);
    assertFalse(Arrays.equals(bits(forth), bits(back)), "the rows' order does not show");
  }

  @Test
  void shouldCountTheSameWhenOnlyEvaluated() {
    List<LabelledRow> rows = rows(ODD, ODD_ROWS, 9);
    float[] parameters = ODD.initialParameters(2);
    Score trained = ODD.gradientSum(parameters, rows, new float[ODD.parameterCount()]);
    assertEquals(trained, ODD.evaluate(parameters, rows));
    assertEquals(ODD_ROWS, trained.rows());
  }

  @Test
  void shouldLeaveGradientAloneWhenThereAreNoRows() {
    float[] gradient = new float[ODD.parameterCount()];
    Arrays.fill(gradient, -0.0f);
    int[] before = bits(gradient);
    assertEquals(Score.NONE, ODD.gradientSum(ODD.initialParameters(2), List.of(), gradient));
    assertArrayEquals(before, bits(gradient));
  }

  @Test
  void shouldStartWithinBoundsWhenSeeded() {
    float[] parameters = ODD.initialParameters(42);
    assertArrayEquals(bits(parameters), bits(ODD.initialParameters(42)));
    assertFalse(Arrays.equals(parameters, ODD.initialParameters(43)));
    double hidden = Math.sqrt(6.0 / 50);
    float largest = 0;
    for (int w = ODD.weightsAt(0); w < ODD.biasesAt(0); w++) {
      largest = Math.max(largest, Math.abs(parameters[w]));
    }
    assertTrue(largest <= hidden && largest > 0.99 * hidden, "largest=" + largest);
    for (int b = ODD.biasesAt(2); b < ODD.parameterCount(); b++) {
      assertEquals(0, Float.floatToRawIntBits(parameters[b]));
    }
    assertEquals(51 * 33 + 34 * 17 + 18 * 10, ODD.parameterCount());
  }

  @Test
  void shouldLearnDigitsWhenTrainedOnTheRestOfThem() {
    Mlp mlp = new Mlp(DigitsData.PIXELS, 64, DigitsData.CLASSES);
    List<LabelledRow> training = new ArrayList<>(DigitsData.read());
    List<LabelledRow> heldOut =
        training.stream().filter(r -> DigitsData.isHeldOut(r.id())).toList();
    training.removeAll(heldOut);
    float[] parameters = mlp.initialParameters(42);
    float[] gradient = new float[mlp.parameterCount()];
    for (int epoch = 0; epoch < 5; epoch++) {
      for (int from = 0; from < training.size(); from += 16) {
        List<LabelledRow> batch = training.subList(from, Math.min(training.size(), from + 16));
        Arrays.fill(gradient, 0.0f);
        mlp.gradientSum(parameters, batch, gradient);
        for (int p = 0; p < parameters.length; p++) {
          parameters[p] -= 0.3f * (gradient[p] / batch.size());
        }
      }
    }
    double accuracy = mlp.evaluate(parameters, heldOut).accuracy();
    assertTrue(accuracy > 0.93, "accuracy=" + accuracy);
  }

  @Test
  void shouldNameBothValuesWhenSomethingDoesNotFit() {
    float[] parameters = ODD.initialParameters(1);
    List<LabelledRow> rows = rows(ODD, 1, 1);
    assertMessage(
        "gradient length=3 != parameters=2441",
        () -> ODD.gradientSum(parameters, rows, new float[3]));
    assertMessage("parameters length=3 != parameters=2441", () -> ODD.evaluate(new float[3], rows));
    assertMessage(
        "row 8 features=2 != inputs=50",
        () -> ODD.evaluate(parameters, List.of(new LabelledRow(8, new float[2], 0))));
    assertMessage(
        "row 8 label=10 is not in 0 .. 9",
        () -> ODD.evaluate(parameters, List.of(new LabelledRow(8, new float[50], 10))));
    assertMessage("sizes=[4] are fewer than 2", () -> new Mlp(4));
    assertMessage("sizes=[4, 0]: sizes[1] < 1", () -> new Mlp(4, 0));
    assertMessage("do not fit one array", () -> new Mlp(1 << 16, 1 << 16));
  }

  private static void assertMessage(String part, Executable act) {
    String message = assertThrows(IllegalArgumentException.class, act).getMessage();
    assertTrue(message.contains(part), message);
  }

  /** Rows with inputs of 0 .. 1, a third of them zero, and labels that follow no rule. */
  private static List<LabelledRow> rows(Mlp mlp, int count, long seed) {
    SplitMix stream = new SplitMix(seed);
    List<LabelledRow> rows = new ArrayList<>();
    for (int id = 0; id < count; id++) {
      float[] features = new float[mlp.inputs()];
      for (int i = 0; i < features.length; i++) {
        features[i] = stream.below(3) == 0 ? 0.0f : Math.abs(stream.signedUnit());
      }
      rows.add(new LabelledRow(id, features, stream.below(mlp.classes())));
    }
    return rows;
  }

  /** The textbook's formula, without blocks, skips or floats. */
  private static double lossInDouble(Mlp mlp, double[] parameters, List<LabelledRow> rows) {
    double loss = 0;
    for (LabelledRow row : rows) {
      double[] a = new double[row.features().length];
      Arrays.setAll(a, i -> row.features()[i]);
      for (int layer = 0; layer < mlp.layers(); layer++) {
        double[] z = new double[mlp.units(layer + 1)];
        for (int j = 0; j < z.length; j++) {
          z[j] = parameters[mlp.biasesAt(layer) + j];
          for (int i = 0; i < a.length; i++) {
            z[j] += a[i] * parameters[mlp.weightsAt(layer) + i * z.length + j];
          }
          z[j] = layer + 1 < mlp.layers() ? Math.max(0, z[j]) : z[j];
        }
        a = z;
      }
      loss += Math.log(Arrays.stream(a).map(Math::exp).sum()) - a[row.label()];
    }
    return loss;
  }

  private static int[] bits(float[] values) {
    int[] bits = new int[values.length];
    Arrays.setAll(bits, i -> Float.floatToRawIntBits(values[i]));
    return bits;
  }
}
