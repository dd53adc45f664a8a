// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaStream;
import org.rankfold.memory.Arena;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.view.View;

/**
 * Collective calls of one task, on behalf of the logical ranks it hosts. All tasks of the group
 * make the same calls in the same order; calls are numbered in the order they are made,
 * asynchronous ones included.
 *
 * <p>Ranks in arguments are logical ranks', so that a program means the same on any number of
 * tasks. Views are borrowed until the call returned (or its handle is done). Results depend on the
 * addends and the contract only: not on tasks, transport, chunks or time.
 *
 * <p>One thread at a time may call; a second one gets WRONG_THREAD. Blocking calls block until
 * every task has come and the result is there; no single wait lasts longer than {@code
 * spark.rankfold.timeout.collective}.
 *
 * <p>Errors are {@link org.rankfold.errors.CollectiveException}. USAGE: every task throws, nothing
 * was written, the communicator stays usable. GROUP_LOST: every task throws, now or at its next
 * call, and each later call throws again; {@code outState()} says what became of the output.
 * PROCESS_FATAL: a peer may still write into this task's memory.
 */
public interface Communicator extends AutoCloseable {
  /**
   * Where this communicator stands.
   *
   * @return constant facts
   */
  CommunicatorInfo info();

  /**
   * Folds all addends and gives every task the result.
   *
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param addends one view for each hosted logical rank, ascending; equal types and counts
   *     everywhere; pairwise disjoint
   * @param out the result, of the addends' count; disjoint from them or the same stretch as one
   */
  void allReduce(ReduceOp op, FoldOrder order, List<View> addends, View out);

  /**
   * As {@link #allReduce(ReduceOp, FoldOrder, List, View)}, without waiting.
   *
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param addends one view for each hosted logical rank
   * @param out the result
   * @return the call's handle
   */
  CollectiveHandle allReduceAsync(ReduceOp op, FoldOrder order, List<View> addends, View out);

  /**
   * Sums all addends in RANK_LEFT order.
   *
   * @param addends one view for each hosted logical rank
   * @param out the result
   */
  default void allReduce(List<View> addends, View out) {
    allReduce(ReduceOp.SUM, FoldOrder.RANK_LEFT, addends, out);
  }

  /**
   * Sums all addends in RANK_LEFT order, without waiting.
   *
   * @param addends one view for each hosted logical rank
   * @param out the result
   * @return the call's handle
   */
  default CollectiveHandle allReduceAsync(List<View> addends, View out) {
    return allReduceAsync(ReduceOp.SUM, FoldOrder.RANK_LEFT, addends, out);
  }

  /**
   * Folds all addends and gives every logical rank its part: part r of the world's equal parts.
   *
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param addends one view for each hosted logical rank, ascending; the count is world times the
   *     part's
   * @param outs one view for each hosted logical rank; disjoint from the addends, or the same
   *     stretch as that rank's part of an addend
   */
  void reduceScatter(ReduceOp op, FoldOrder order, List<View> addends, List<View> outs);

  /**
   * As {@link #reduceScatter}, without waiting.
   *
   * @param op what is done with two addends
   * @param order in which order addends meet
   * @param addends one view for each hosted logical rank
   * @param outs one view for each hosted logical rank
   * @return the call's handle
   */
  CollectiveHandle reduceScatterAsync(
      ReduceOp op, FoldOrder order, List<View> addends, List<View> outs);

  /**
   * Gives every task the rows of all logical ranks, bit by bit.
   *
   * @param rows one view for each hosted logical rank, ascending; equal types and counts everywhere
   * @param out world times a row, by logical rank; disjoint from the rows, or a row is its own
   *     place in it
   */
  void allGather(List<View> rows, View out);

  /**
   * As {@link #allGather}, without waiting.
   *
   * @param rows one view for each hosted logical rank
   * @param out world times a row
   * @return the call's handle
   */
  CollectiveHandle allGatherAsync(List<View> rows, View out);

  /**
   * Gives every task the elements of the task that hosts the root, bit by bit.
   *
   * @param root a logical rank, the same everywhere
   * @param buffer read on the root's task, written on the others; equal types and counts
   */
  void broadcast(int root, View buffer);

  /**
   * As {@link #broadcast}, without waiting.
   *
   * @param root a logical rank
   * @param buffer read on the root's task, written on the others
   * @return the call's handle
   */
  CollectiveHandle broadcastAsync(int root, View buffer);

  /** Returns when every task has called. */
  void barrier();

  /**
   * The same calls in the order of a stream: behind what it was given before, so that addends may
   * still be on their way to their memory, and before what it is given afterwards, so that the
   * result may be read by what comes next in the stream, without a wait of the host. They are
   * numbered with all others; each task chooses for itself how it calls.
   *
   * @param stream of this task's device
   * @return calls over the same communicator
   * @throws org.rankfold.errors.CollectiveException UNSUPPORTED when the group was formed without
   *     devices ({@code spark.rankfold.device}), INVALID_ARGUMENT for another device's stream
   */
  StreamCommunicator onStream(CudaStream stream);

  /**
   * Memory that the transport reaches most easily; zeroed, padded, for this task alone.
   *
   * @param dtype the element type
   * @param count elements
   * @return an arena, owned by the caller
   */
  Arena allocate(DType dtype, long count);

  /**
   * Memory on the task's device; its contents are not defined. Calls take its view as they take
   * host memory.
   *
   * @param dtype the element type
   * @param count elements
   * @return a buffer, owned by the caller
   * @throws org.rankfold.errors.CollectiveException UNSUPPORTED when the group was formed without
   *     devices ({@code spark.rankfold.device}), TOO_LITTLE_MEMORY
   */
  DeviceBuffer allocateOnDevice(DType dtype, long count);

  /**
   * Lets peers reach a buffer's memory where it lies, as they reach what {@link #allocateOnDevice}
   * gives; without it, calls copy the memory to and from where they can. Does not block, and tasks
   * need not register alike. Borrowed memory stays allocated until this communicator is closed.
   * Does nothing in a group that has no such reach.
   *
   * @param buffer on the task's device
   * @throws org.rankfold.errors.CollectiveException UNSUPPORTED for memory that processes cannot
   *     share, such as a framework's virtual memory, with the driver's reason
   */
  void register(DeviceBuffer buffer);

  /**
   * Whether the group is still intact; returns at once. May be called by any thread.
   *
   * @throws org.rankfold.errors.CollectiveException the first cause when the group is lost
   */
  void checkAbort();

  /**
   * Loses the group on purpose, as when the caller's own code failed: peers end in their current
   * wait or at their next call, with this cause. May be called by any thread.
   *
   * @param cause what happened
   */
  void abort(Throwable cause);

  /**
   * Leaves the group in good order, after the asynchronous calls under way have ended; idempotent.
   * A peer that calls again is told that this task left.
   */
  @Override
  void close();
}
