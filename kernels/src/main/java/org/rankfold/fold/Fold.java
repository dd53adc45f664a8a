// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.ReduceContract;
import org.rankfold.view.View;

/**
 * Adds in the written order and nowhere else. Implementations are stateless or keep state a thread;
 * one instance may be called by several threads at once.
 */
public interface Fold {
  /**
   * Combines, for every element, the addends of all logical ranks in the contract's order and
   * stores the result in every output.
   *
   * <p>An output may be the same stretch as an addend; the fold reads all addends of an element
   * before it writes that element. Any other overlap has no defined result and is for the caller to
   * refuse. Views stay the caller's and are not kept. Does not block and takes time linear in
   * elements times world.
   *
   * @param contract what fixes the bits; its world is the number of addends
   * @param addends one view for each logical rank, ascending; equal counts, the contract's type
   * @param outs where the result goes, at least one; equal counts, the contract's type
   * @throws org.rankfold.errors.CollectiveException COUNT_MISMATCH or CONTRACT_MISMATCH when a view
   *     does not fit, FLUSH_TO_ZERO when the thread flushes subnormal numbers; no output is written
   */
  void fold(ReduceContract contract, View[] addends, View[] outs);
}
