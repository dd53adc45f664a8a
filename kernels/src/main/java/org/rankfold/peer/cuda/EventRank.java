// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.List;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.fold.cuda.FoldCode;
import org.rankfold.view.DeviceView;

/**
 * One rank of the event arm: the mapped calls with stream events for barriers, so that nothing
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

  /**
   * A rank of a group that hears over its channel when a peer's part is done, not only that it was
   * enqueued: nobody marks or awaits a push then.
   *
   * @param fold of the rank's device
   * @param stream a stream of that device
   * @param rank which of the ranks this is
   * @param ready every rank's event of that name, in rank order; this rank marks its own
   */
  public EventRank(CudaFold fold, CudaStream stream, int rank, List<CudaEvent> ready) {
    this(fold, stream, rank, ready, List.of());
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
    markPushed();
  }

  /**
   * A reduce-scatter's part instead: folds what belongs to this rank's logical ranks from
   * everybody's memory; its own outputs alone are written.
   *
   * @param contract what fixes the bits
   * @param addends one view for each logical rank, ascending, whole
   * @param firstLogical the first logical rank hosted here
   * @param parts one output for each logical rank hosted here
   */
  public void foldParts(
      ReduceContract contract, DeviceView[] addends, int firstLogical, DeviceView[] parts) {
    awaitAll(ready);
    DeviceView[] slices = new DeviceView[addends.length];
    for (int p = 0; p < parts.length; p++) {
      long count = parts[p].count();
      for (int l = 0; l < addends.length; l++) {
        slices[l] = addends[l].slice((firstLogical + p) * count, count);
      }
      fold.enqueue(contract, slices, new DeviceView[] {parts[p]}, stream);
    }
    markPushed();
  }

  /**
   * An all-gather's part instead: copies this rank's rows to their place in everybody's output.
   *
   * @param rows one for each logical rank hosted here
   * @param firstLogical the first of them
   * @param outs one whole output for each rank
   */
  public void pushRows(DeviceView[] rows, int firstLogical, DeviceView[] outs) {
    awaitAll(ready);
    for (int r = 0; r < rows.length; r++) {
      long count = rows[r].count();
      push(rows[r], outs, (firstLogical + r) * count);
    }
    markPushed();
  }

  /**
   * A broadcast's part instead: pulls this rank's shard from the root and pushes it to all others,
   * so that the root's link carries the whole once.
   *
   * @param root what the root has
   * @param outs one for each rank; the root's is the same stretch
   */
  public void pushShardOf(DeviceView root, DeviceView[] outs) {
    awaitAll(ready);
    long shard = FoldCode.shardElements(root.count(), ready.size(), root.dtype());
    long from = Math.min(root.count(), shard * rank);
    push(root.slice(from, Math.min(shard, root.count() - from)), outs, from);
    markPushed();
  }

  /** Every rank begins with its own output, so that links are used evenly. */
  private void push(DeviceView source, DeviceView[] outs, long at) {
    for (int i = 0; i < outs.length; i++) {
      DeviceView place = outs[(rank + i) % outs.length].slice(at, source.count());
      if (!place.isSameStretchAs(source)) {
        stream.copy(source, place);
      }
    }
  }

  private void markPushed() {
    if (!pushed.isEmpty()) {
      pushed.get(rank).record(stream);
    }
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
