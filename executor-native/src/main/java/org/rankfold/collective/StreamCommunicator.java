// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

import java.util.List;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.View;

/**
 * Calls of a communicator in the order of a CUDA stream. A call reads and writes its views behind
 * all that the stream was given before it, and what the stream is given after it comes behind the
 * call.
 *
 * <p>A call blocks until all tasks have made it and agreed on it, on the host; no byte moves
 * before. Then, where an exchange such as NCCL was attached and all memory of the call lies on
 * devices, it is enqueued and returns; the handle tells when the device is done. Otherwise the host
 * waits for the stream, and the call is done when it returns: the same order, without the gain.
 *
 * <p>Views are borrowed until the handle is done. When the group is lost meanwhile, the stream goes
 * on with an output that is partly written, and {@link CollectiveHandle#await} throws: results are
 * good only once it returned, and a handle of a lost group is done only once it was awaited or the
 * communicator closed. Closing waits for what is on the device.
 *
 * <p>Threads and errors are as {@link Communicator} says.
 */
public interface StreamCommunicator {
  /**
   * Folds all addends and gives every task the result.
   *
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param addends one view for each hosted logical rank
   * @param out the result
   * @return the call's handle
   */
  CollectiveHandle allReduce(ReduceOp op, FoldOrder order, List<View> addends, View out);

  /**
   * Sums all addends in RANK_LEFT order.
   *
   * @param addends one view for each hosted logical rank
   * @param out the result
   * @return the call's handle
   */
  default CollectiveHandle allReduce(List<View> addends, View out) {
    return allReduce(ReduceOp.SUM, FoldOrder.RANK_LEFT, addends, out);
  }

  /**
   * Folds all addends and gives every logical rank its part.
   *
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param addends one view for each hosted logical rank
   * @param outs one view for each hosted logical rank
   * @return the call's handle
   */
  CollectiveHandle reduceScatter(ReduceOp op, FoldOrder order, List<View> addends, List<View> outs);

  /**
   * Gives every task the rows of all logical ranks, bit by bit.
   *
   * @param rows one view for each hosted logical rank
   * @param out world times a row
   * @return the call's handle
   */
  CollectiveHandle allGather(List<View> rows, View out);

  /**
   * Gives every task the elements of the task that hosts the root, bit by bit.
   *
   * @param root a logical rank
   * @param buffer read on the root's task, written on the others
   * @return the call's handle
   */
  CollectiveHandle broadcast(int root, View buffer);
}
