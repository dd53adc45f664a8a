// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;
import java.util.List;
import org.rankfold.cuda.CudaStream;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * What is trained: a loss of rows and parameters, with its gradient, in one flat array of floats.
 *
 * <p>The trainer keeps the order of rows, of additions between logical ranks and of the optimizer's
 * operations; the bits of one logical rank's sums are the model's. For equal bits everywhere a
 * model writes its arithmetic as plain Java, with {@link StrictMath} for exp and log, and keeps no
 * state between calls: a task calls it for all the logical ranks it hosts, from one thread.
 *
 * @param <R> a row
 */
public interface GradientModel<R> extends Serializable {
  /**
   * The length of every parameter and gradient array.
   *
   * @return floats, at least 1, the same at every call
   */
  int parameterCount();

  /**
   * Writes the parameters to start from; every task calls it and must get the same bits.
   *
   * @param seed the trainer's seed
   * @param parameters all zeros, {@link #parameterCount} of them; owned by the caller
   */
  void initialise(long seed, float[] parameters);

  /**
   * Adds the gradient of the rows' summed loss (a sum, not a mean) to an array.
   *
   * @param parameters read only, borrowed until return
   * @param rows one logical rank's rows of a step, at least one, in the order in which they count;
   *     borrowed until return
   * @param gradient cleared by the caller; added to
   * @return the rows' number, summed loss and hits with these parameters
   */
  Score gradientSum(float[] parameters, List<R> rows, float[] gradient);

  /**
   * Scores rows without a gradient.
   *
   * @param parameters read only, borrowed until return
   * @param rows at least one, in the order in which losses are added; borrowed until return
   * @return the rows' number, summed loss and hits
   */
  Score evaluate(float[] parameters, List<R> rows);

  /**
   * The model's other half, which works on a device with the same bits; for trainings on {@link
   * ComputeDevice#GPU}.
   *
   * @param stream what all of its work is enqueued on; owned by the caller, who outlives the model
   * @return a new one for the calling task, owned by the caller
   * @throws CollectiveException UNSUPPORTED for a model that has none, as by default
   */
  default DeviceModel<R> on(CudaStream stream) {
    throw CollectiveException.usage(
        ErrorCode.UNSUPPORTED,
        "model %s does not override GradientModel.on: it computes on the CPU only",
        getClass().getName());
  }
}
