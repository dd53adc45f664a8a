// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.util.List;
import org.rankfold.cuda.CudaStream;
import org.rankfold.spark.train.DeviceModel;
import org.rankfold.spark.train.GradientModel;
import org.rankfold.spark.train.Score;

/** An {@link Mlp} as the trainer wants a model: sizes travel, the network is made where it runs. */
final class MlpModel implements GradientModel<LabelledRow> {
  private static final long serialVersionUID = 1L;

  private final int[] sizes;
  private transient Mlp network;

  /** A network of these layers; sizes as {@link Mlp#Mlp} wants them. */
  MlpModel(int... sizes) {
    this.sizes = sizes.clone();
  }

  private Mlp network() {
    if (network == null) {
      network = new Mlp(sizes);
    }
    return network;
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

  @Override
  public DeviceModel<LabelledRow> on(CudaStream stream) {
    return new MlpCuda(network(), stream);
  }
}
