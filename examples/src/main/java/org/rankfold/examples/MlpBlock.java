// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.util.List;
import org.rankfold.spark.train.Score;

/**
 * A few rows on their way through an {@link Mlp} together, so that a stretch of weights is fetched
 * once for all of them.
 *
 * <p>Together changes no bit: each number still meets its operands in the order {@link Mlp} writes
 * down; only independent numbers trade places. The inner loops run over outputs, from index 0 on
 * both sides, with the weights copied to a small array of their own: in that form every HotSpot
 * since 17 vectorises them, across outputs and never along a sum. Owned by one thread.
 */
final class MlpBlock {
  /** Rows that go together. */
  static final int ROWS = 16;

  private final Mlp mlp;
  private final SoftmaxLoss loss;
  private final int[] labels;

  /** [level][row][unit]: the outputs of each level; level 0 borrows the rows' own arrays. */
  private final float[][][] activations;

  /** [level][row][unit]: the loss gradient by each unit's sum; level 0 has none. */
  private final float[][][] deltas;

  private int count;

  MlpBlock(Mlp mlp, int rows) {
    this.mlp = mlp;
    loss = new SoftmaxLoss(mlp.classes());
    labels = new int[rows];
    int levels = mlp.layers() + 1;
    activations = new float[levels][rows][];
    deltas = new float[levels][rows][];
    for (int level = 1; level < levels; level++) {
      for (int r = 0; r < rows; r++) {
        activations[level][r] = new float[mlp.units(level)];
        deltas[level][r] = new float[mlp.units(level)];
      }
    }
  }

  /** Takes up to {@link #ROWS} rows in. */
  void load(List<LabelledRow> rows) {
    count = rows.size();
    for (int r = 0; r < count; r++) {
      LabelledRow row = rows.get(r);
      mlp.requireFit(row);
      activations[0][r] = row.features();
      labels[r] = row.label();
    }
  }

  /** Runs all layers; the last level holds the sums before softmax. */
  void forward(float[] parameters) {
    for (int layer = 0; layer < mlp.layers(); layer++) {
      int in = mlp.units(layer);
      int out = mlp.units(layer + 1);
      int weightsAt = mlp.weightsAt(layer);
      float[] weights = new float[out];
      for (int r = 0; r < count; r++) {
        System.arraycopy(parameters, mlp.biasesAt(layer), activations[layer + 1][r], 0, out);
      }
      for (int i = 0; i < in; i++) {
        System.arraycopy(parameters, weightsAt + i * out, weights, 0, out);
        for (int r = 0; r < count; r++) {
          addScaled(activations[layer][r][i], weights, activations[layer + 1][r]);
        }
      }
      if (layer + 1 < mlp.layers()) {
        for (int r = 0; r < count; r++) {
          rectify(activations[layer + 1][r]);
        }
      }
    }
  }

  /** Scores the last level, leaves its deltas, and adds the rows one by one to a tally. */
  Score lossesAfter(Score before) {
    int top = mlp.layers();
    Score tally = before;
    for (int r = 0; r < count; r++) {
      tally = loss.add(tally, labels[r], activations[top][r], 0, deltas[top][r], 0);
    }
    return tally;
  }

  /** Adds the rows' gradients to an array. */
  void backward(float[] parameters, float[] gradient) {
    for (int layer = mlp.layers() - 1; layer >= 0; layer--) {
      int out = mlp.units(layer + 1);
      int weightsAt = mlp.weightsAt(layer);
      float[] sums = new float[out];
      float[][] above = deltas[layer + 1];
      for (int i = 0; i < mlp.units(layer); i++) {
        System.arraycopy(gradient, weightsAt + i * out, sums, 0, out);
        for (int r = 0; r < count; r++) {
          addScaled(activations[layer][r][i], above[r], sums);
        }
        System.arraycopy(sums, 0, gradient, weightsAt + i * out, out);
      }
      System.arraycopy(gradient, mlp.biasesAt(layer), sums, 0, out);
      for (int r = 0; r < count; r++) {
        add(above[r], sums);
      }
      System.arraycopy(sums, 0, gradient, mlp.biasesAt(layer), out);
      if (layer > 0) {
        for (int r = 0; r < count; r++) {
          passDown(parameters, weightsAt, activations[layer][r], above[r], deltas[layer][r]);
        }
      }
    }
  }

  /** sums[j] = sums[j] + a * x[j], all of them independent; a zero is skipped. */
  private static void addScaled(float a, float[] x, float[] sums) {
    if (a == 0.0f) {
      return;
    }
    for (int j = 0; j < sums.length; j++) {
      sums[j] += a * x[j];
    }
  }

  private static void add(float[] x, float[] sums) {
    for (int j = 0; j < sums.length; j++) {
      sums[j] += x[j];
    }
  }

  private static void rectify(float[] z) {
    for (int j = 0; j < z.length; j++) {
      z[j] = z[j] <= 0.0f ? 0.0f : z[j];
    }
  }

  /** One chain of additions for each unit below, in the order of the units above. */
  private static void passDown(
      float[] parameters, int weightsAt, float[] activation, float[] above, float[] below) {
    int out = above.length;
    for (int i = 0; i < below.length; i++) {
      float sum = 0.0f;
      if (activation[i] != 0.0f) {
        int row = weightsAt + i * out;
        sum = above[0] * parameters[row];
        for (int j = 1; j < out; j++) {
          sum += above[j] * parameters[row + j];
        }
      }
      below[i] = sum;
    }
  }
}
