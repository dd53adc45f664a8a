// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

/** The order of operations in {@link Mlp}'s contract, one row and one number at a time. */
final class MlpByTheLetter {
  private MlpByTheLetter() {}

  /** Adds one row's gradient and returns its loss. */
  static double addGradient(Mlp mlp, float[] parameters, LabelledRow row, float[] gradient) {
    int layers = mlp.layers();
    float[][] a = new float[layers + 1][];
    a[0] = row.features();
    for (int layer = 0; layer < layers; layer++) {
      int out = mlp.units(layer + 1);
      a[layer + 1] = new float[out];
      for (int j = 0; j < out; j++) {
        float z = parameters[mlp.biasesAt(layer) + j];
        for (int i = 0; i < a[layer].length; i++) {
          if (a[layer][i] != 0) {
            z = z + a[layer][i] * parameters[mlp.weightsAt(layer) + i * out + j];
          }
        }
        a[layer + 1][j] = layer + 1 < layers && z <= 0 ? 0 : z;
      }
    }
    float[] z = a[layers];
    double largest = Double.NEGATIVE_INFINITY;
    for (float each : z) {
      largest = Math.max(largest, each);
    }
    double s = 0;
    for (float each : z) {
      s += StrictMath.exp(each - largest);
    }
    float[] d = new float[z.length];
    for (int k = 0; k < d.length; k++) {
      d[k] = (float) (StrictMath.exp(z[k] - largest) / s - (k == row.label() ? 1 : 0));
    }
    for (int layer = layers - 1; layer >= 0; layer--) {
      float[] below = new float[a[layer].length];
      for (int j = 0; j < d.length; j++) {
        gradient[mlp.biasesAt(layer) + j] += d[j];
        for (int i = 0; i < below.length; i++) {
          if (a[layer][i] != 0) {
            int at = mlp.weightsAt(layer) + i * d.length + j;
            gradient[at] += a[layer][i] * d[j];
            below[i] = j == 0 ? d[0] * parameters[at] : below[i] + d[j] * parameters[at];
          }
        }
      }
      d = below;
    }
    return StrictMath.log(s) - (z[row.label()] - largest);
  }
}
