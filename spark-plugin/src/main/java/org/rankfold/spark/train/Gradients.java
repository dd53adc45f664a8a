// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.List;
import org.rankfold.view.View;

/**
 * Where a task's gradients are made and kept: an array for each hosted logical rank, numbered from
 * 0, on the host or on a device. For one thread.
 */
interface Gradients<R> extends AutoCloseable {
  /** Takes the parameters that the next calls use; to be told again after they were changed. */
  void use(float[] parameters);

  /** Sets a rank's gradient to zeros. */
  void clear(int rank);

  /** Adds the gradient sum of some rows to a rank's. */
  Score add(int rank, List<R> rows);

  /** Scores rows without a gradient. */
  Score evaluate(List<R> rows);

  /** All ranks' gradients, with everything above done: the addends of a collective call. */
  List<View> views();

  /**
   * What the first view holds, such as a fold's result that was written there.
   *
   * @return an array that the caller may write to until the next call
   */
  float[] first();

  @Override
  void close();
}
