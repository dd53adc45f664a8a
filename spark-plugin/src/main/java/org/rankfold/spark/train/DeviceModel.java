// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.List;
import org.rankfold.view.DeviceView;

/**
 * A {@link GradientModel} at work on a device, for one task: it holds the parameters there and adds
 * gradients to device memory. For equal bits everywhere it does the operations of its model's host
 * half in the same order, each with one rounding: no fused multiply-add, no atomics, no library
 * that chooses an order. For one thread; it owns what it allocates.
 *
 * @param <R> a row
 */
public interface DeviceModel<R> extends AutoCloseable {
  /**
   * Takes the parameters that the next calls use.
   *
   * @param parameters copied before return
   */
  void load(float[] parameters);

  /**
   * Adds the gradient of the rows' summed loss to device memory; as {@link
   * GradientModel#gradientSum}, with the loaded parameters. The additions may only be enqueued on
   * the stream the model was made with: the caller waits for that.
   *
   * @param rows at least one, in the order in which they count; borrowed until return
   * @param gradient parameterCount floats on the stream's device, what was enqueued on the stream
   *     before being done first; added to
   * @return the rows' number, summed loss and hits
   */
  Score gradientSum(List<R> rows, DeviceView gradient);

  /**
   * Scores rows without a gradient, as {@link GradientModel#evaluate}, with the loaded parameters.
   *
   * @param rows at least one, in the order in which losses are added; borrowed until return
   * @return the rows' number, summed loss and hits
   */
  Score evaluate(List<R> rows);

  /** Frees what the model has on the device; called when the stream's work is done. Idempotent. */
  @Override
  void close();
}
