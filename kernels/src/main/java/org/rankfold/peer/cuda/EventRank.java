// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.List;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.view.DeviceView;

/**
 * One rank of the event arm: the mapped all-reduce with stream events for barriers, so that nothing
 * spins and ranks may share a device. For each call every rank takes four steps; between two of
 * them it hears, over whatever channel its group has, that all peers have taken the one before:
 *
 * <ol>
 *   <li>{@link #markReady}: the own addends are as they should be and the own output is free
 *   <li>{@link #pushShard}, once all have marked ready: waits for the peers' marks, folds the own
 *       shard from everybody's memory and stores it to everybody's output
 *   <li>{@link #awaitPushed}, once all have pushed: what is enqueued to the stream afterwards sees
 *       the whole result
 *   <li>before the next call's {@link #markReady}, that all have awaited: an event is marked anew
 *       only when nobody is about to wait for the old mark
 * </ol>
 *
 * <p>None of the steps blocks. Between processes the events are shared ones and views are of mapped
 * memory. One thread at a time.
 */
public final class EventRank {
  private final CudaFold fold;
  private final CudaStream stream;
  private final int rank;
  private final List<CudaEvent> ready;
  private final List<CudaEvent> pushed;

  /**
   * A rank that has its place.
   *
   * @param fold of the rank's device
   * @param stream a stream of that device
   * @param rank which of the ranks this is
   * @param ready every rank's event of that name, in rank order; this rank marks its own
   * @param pushed likewise
   */
  public EventRank(
      CudaFold fold, CudaStream stream, int rank, List<CudaEvent> ready, List<CudaEvent> pushed) {
    this.fold = fold;
    this.stream = stream;
    this.rank = rank;
    this.ready = List.copyOf(ready);
    this.pushed = List.copyOf(pushed);
  }

  /** Marks that what the stream has been given so far leaves addends and output to the peers. */
  public void markReady() {
    ready.get(rank).record(stream);
  }

  /**
   * Enqueues this rank's part behind all peers' ready marks, and marks it.
   *
   * @param contract what fixes the bits
   * @param addends one view for each logical rank, ascending, of memory this device reaches
   * @param outs one view for each rank, likewise
   * @throws org.rankfold.errors.CollectiveException as {@link CudaFold#enqueueShards} does
   */
  public void pushShard(ReduceContract contract, DeviceView[] addends, DeviceView[] outs) {
    awaitAll(ready);
    fold.enqueueShards(contract, addends, outs, ready.size(), rank, 1, stream);
    pushed.get(rank).record(stream);
  }

  /** Puts what comes next behind all peers' pushes. */
  public void awaitPushed() {
    awaitAll(pushed);
  }

  private void awaitAll(List<CudaEvent> events) {
    for (int peer = 0; peer < events.size(); peer++) {
      if (peer != rank) {
        stream.waitFor(events.get(peer));
      }
    }
  }
}
