// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.util.Arrays;
import java.util.List;
import org.rankfold.spark.train.Score;

/**
 * A multi-layer perceptron with ReLU between its layers and softmax cross-entropy at its end, in
 * plain Java whose every rounding is written down: the same parameters and rows give the same bits
 * on every JVM, compiler and processor.
 *
 * <p>Parameters and gradients live in one flat array each, of {@link #parameterCount} floats: layer
 * after layer from the inputs on; of a layer with {@code in} inputs and {@code out} outputs first
 * the weights, {@code weight[i * out + j]} from input i to output j, then {@code out} biases.
 *
 * <p><b>Order of operations.</b> All arithmetic is float, one rounding an operation, no fused
 * multiply-add, except where it says double; row by row, in the order of the list:
 *
 * <ol>
 *   <li>Forward: {@code z[j] = bias[j]}, then for i ascending, {@code z[j] = z[j] + a[i] * weight[i
 *       * out + j]}; an {@code a[i]} equal to zero is skipped. ReLU: {@code z <= 0 ? 0 : z} (so NaN
 *       stays).
 *   <li>Loss, in double: {@code e[k] = StrictMath.exp(z[k] - largest z)}, {@code s = e[0] + e[1] +
 *       ...}, {@code loss = StrictMath.log(s) - (z[label] - largest z)}. The class is the first k
 *       with the largest {@code z[k]}.
 *   <li>Backward: {@code d[k] = (float) (e[k] / s - (k == label ? 1 : 0))}. Then, from the last
 *       layer down, {@code gradient of bias[j] += d[j]}; {@code gradient of weight[i * out + j] +=
 *       a[i] * d[j]}, an {@code a[i]} equal to zero is skipped; the layer below gets {@code d'[i] =
 *       d[0] * weight[i * out] + d[1] * weight[i * out + 1] + ...}, or 0 where {@code a[i]} is
 *       zero.
 * </ol>
 *
 * <p>{@code MlpBlock} does so on the host, and the kernels of {@code mlp.cu} on a device.
 *
 * <p>So a gradient sum over rows is the left fold of the rows' gradients, begun with what the array
 * held. The class has no state beyond its sizes: any number of threads may use one instance, each
 * with its own gradient array.
 */
public final class Mlp {
  private final int[] sizes;

  /**
   * Describes a network.
   *
   * @param sizes numbers of units: inputs, hidden layers, classes; at least two, each above 0
   * @throws IllegalArgumentException if they are not, or if the parameters do not fit one array
   */
  public Mlp(int... sizes) {
    if (sizes.length < 2) {
      throw new IllegalArgumentException("sizes=" + Arrays.toString(sizes) + " are fewer than 2");
    }
    long count = 0;
    for (int s = 0; s < sizes.length; s++) {
      if (sizes[s] < 1) {
        throw new IllegalArgumentException(
            "sizes=" + Arrays.toString(sizes) + ": sizes[" + s + "] < 1");
      }
      count += s == 0 ? 0 : (sizes[s - 1] + 1L) * sizes[s];
      if (count > Integer.MAX_VALUE - 64) {
        throw new IllegalArgumentException(
            "sizes=" + Arrays.toString(sizes) + ": parameters=" + count + " do not fit one array");
      }
    }
    this.sizes = sizes.clone();
  }

  /**
   * The number of inputs a row must have.
   *
   * @return floats a row
   */
  public int inputs() {
    return sizes[0];
  }

  /**
   * The number of classes; labels are below it.
   *
   * @return classes
   */
  public int classes() {
    return sizes[sizes.length - 1];
  }

  /**
   * The length of every parameter and gradient array.
   *
   * @return floats
   */
  public int parameterCount() {
    return weightsAt(sizes.length - 1);
  }

  /**
   * Makes the parameters to start from, out of one {@link SplitMix} stream in the order of the
   * array: weights of hidden layers even over +-sqrt(6 / in) (He), those of the last layer over
   * +-sqrt(6 / (in + out)) (Glorot), where the bound is rounded to float and multiplied by {@link
   * SplitMix#signedUnit}; biases are 0 and take no word.
   *
   * @param seed of the stream
   * @return a new array of {@link #parameterCount} floats
   */
  public float[] initialParameters(long seed) {
    float[] parameters = new float[parameterCount()];
    SplitMix stream = new SplitMix(seed);
    for (int layer = 0; layer < layers(); layer++) {
      int fan = layer + 1 < layers() ? sizes[layer] : sizes[layer] + sizes[layer + 1];
      float bound = (float) StrictMath.sqrt(6.0 / fan);
      for (int w = weightsAt(layer); w < biasesAt(layer); w++) {
        parameters[w] = bound * stream.signedUnit();
      }
    }
    return parameters;
  }

  /**
   * Adds the sum of the rows' loss gradients to an array.
   *
   * @param parameters read only
   * @param rows in the order of the additions; none is fine
   * @param gradient added to, each element in the order of the rows; not cleared first
   * @return rows, losses and hits of the forward pass with these parameters
   * @throws IllegalArgumentException if an array's length, a row's width or a label does not fit;
   *     then {@code gradient} holds the sums over some of the rows before the one at fault
   */
  public Score gradientSum(float[] parameters, List<LabelledRow> rows, float[] gradient) {
    requireLength("gradient", gradient.length);
    return pass(parameters, rows, gradient);
  }

  /**
   * Runs the forward pass alone: the same bits as {@link #gradientSum} returns.
   *
   * @param parameters read only
   * @param rows in the order in which losses are added; none is fine
   * @return rows, losses and hits
   * @throws IllegalArgumentException if an array's length, a row's width or a label does not fit
   */
  public Score evaluate(float[] parameters, List<LabelledRow> rows) {
    return pass(parameters, rows, null);
  }

  private Score pass(float[] parameters, List<LabelledRow> rows, float[] gradientOrNull) {
    requireLength("parameters", parameters.length);
    MlpBlock block = new MlpBlock(this, Math.min(rows.size(), MlpBlock.ROWS));
    Score tally = Score.NONE;
    for (int from = 0; from < rows.size(); from += MlpBlock.ROWS) {
      block.load(rows.subList(from, Math.min(rows.size(), from + MlpBlock.ROWS)));
      block.forward(parameters);
      tally = block.lossesAfter(tally);
      if (gradientOrNull != null) {
        block.backward(parameters, gradientOrNull);
      }
    }
    return tally;
  }

  /** Number of layers with parameters. */
  int layers() {
    return sizes.length - 1;
  }

  /** Units of a level: level 0 are the inputs, level l + 1 the outputs of layer l. */
  int units(int level) {
    return sizes[level];
  }

  /** Where a layer's weights begin. */
  int weightsAt(int layer) {
    int at = 0;
    for (int below = 0; below < layer; below++) {
      at += (sizes[below] + 1) * sizes[below + 1];
    }
    return at;
  }

  /** Where a layer's biases begin. */
  int biasesAt(int layer) {
    return weightsAt(layer) + sizes[layer] * sizes[layer + 1];
  }

  /** Refuses a row of another width, or with a label that is no class. */
  void requireFit(LabelledRow row) {
    if (row.features().length != inputs()) {
      throw new IllegalArgumentException(
          "row " + row.id() + " features=" + row.features().length + " != inputs=" + inputs());
    }
    if (row.label() < 0 || row.label() >= classes()) {
      throw new IllegalArgumentException(
          "row " + row.id() + " label=" + row.label() + " is not in 0 .. " + (classes() - 1));
    }
  }

  /** Refuses another number of parameters or gradients. */
  void requireLength(String name, long length) {
    if (length != parameterCount()) {
      throw new IllegalArgumentException(
          name
              + " length="
              + length
              + " != parameters="
              + parameterCount()
              + " of "
              + Arrays.toString(sizes));
    }
  }
}
