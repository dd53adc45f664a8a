// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;

/**
 * How parameters follow from gradients: a value that every task turns into equal states, which then
 * take equal steps. Implementations write down their order of operations; see {@link Sgd} and
 * {@link AdamW}.
 */
public interface Optimizer extends Serializable {
  /**
   * The state before the first step.
   *
   * @param parameterCount the length of the arrays to come, at least 1
   * @return a new state, for one thread at a time
   */
  State begin(int parameterCount);

  /** What an optimizer remembers between steps. */
  interface State {
    /**
     * Takes one step.
     *
     * @param parameters read and written
     * @param gradient the mean gradient of the step's rows, of the same length; read only
     */
    void step(float[] parameters, float[] gradient);
  }
}
