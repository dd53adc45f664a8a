// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

/**
 * Which stretch of which call a delivery carries.
 *
 * @param call the call's number
 * @param phase what the bytes are
 * @param index the logical rank of an addend or row, the folding task of a result, 0 in a broadcast
 * @param chunk the stretch, from 0
 */
public record DeliveryTag(long call, Phase phase, int index, int chunk) {
  /** What the bytes of a delivery are. */
  public enum Phase {
    /** A logical rank's addend, on the way to the task that folds it. */
    ADDEND,
    /** A folded stretch, on the way from the task that folded it. */
    RESULT,
    /** A stretch of a gathered row or of a broadcast buffer. */
    ROW
  }
}
