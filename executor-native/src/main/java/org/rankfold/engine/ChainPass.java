// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.errors.OutState;
import org.rankfold.fold.PartialFold;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.RankTable;
import org.rankfold.view.View;

/**
 * RANK_LEFT by a chain: task 0 sums its addends of a chunk and sends the sum to task 1, which goes
 * on with its own, and so on; the last task has the result and sends it back the same way. Many
 * chunks are on their way at once. A sum waits in {@code out} where it has the elements' type: the
 * result of the chunk, which overwrites it, cannot come before the next task has the sum.
 */
final class ChainPass implements CallBody.Pass {
  private final Call call;
  private final RankTable table;
  private final int task;
  private final int last;
  private final Await await;
  private final EngineSettings settings;
  private final PartialFold sums;
  private final StagedExchange exchange;
  private final View partial;
  private final int chunkElements;
  private final int chunks;
  private int forwarded;

  ChainPass(
      Call call,
      PartialFold sums,
      PartialScratch scratch,
      Await await,
      EngineSettings settings,
      ExchangeFactory exchanges) {
    ReduceContract contract = call.header().contract();
    long count = call.header().count();
    this.call = call;
    this.table = call.table;
    this.task = call.task;
    this.last = table.tasks() - 1;
    this.await = await;
    this.settings = settings;
    this.sums = sums;
    this.exchange = exchanges.open(call.number(), this::placeOf);
    DType dtype = sums.dtype();
    this.partial =
        dtype == contract.dtype() ? call.own.outputs().get(0) : scratch.view(0, dtype, count);
    this.chunkElements = FoldSchedule.chunkElements(dtype, settings.chunkBytes());
    this.chunks = Math.toIntExact((count + chunkElements - 1) / chunkElements);
  }

  /** Nothing: a sum would be written to memory of a call that may yet be refused. */
  @Override
  public void sendAhead() {}

  @Override
  public void withdraw() {
    exchange.withdraw();
  }

  @Override
  public void run() {
    try {
      exchange.land();
      for (int chunk = 0; chunk < chunks; chunk++) {
        await.throwIfAborted();
        fold(chunk);
        pump();
      }
      await.until(
          () -> {
            pump();
            return exchange.placed() == results()
                && forwarded == (task > 0 ? results() : 0)
                && exchange.isSent();
          },
          settings.collectiveTimeoutNs(),
          () ->
              call.header().describe()
                  + ": "
                  + exchange.placed()
                  + " of "
                  + results()
                  + " folded chunks arrived from "
                  + table.describe(Math.min(task + 1, last)));
    } finally {
      exchange.endLanding();
    }
  }

  /** The last task has its results by folding. */
  private long results() {
    return task == last ? 0 : chunks;
  }

  private void fold(int chunk) {
    int before = task == 0 ? -1 : table.firstRank(task - 1);
    if (task > 0) {
      await.until(
          () -> {
            pump();
            return exchange.hasAddend(before, chunk);
          },
          settings.collectiveTimeoutNs(),
          () ->
              call.header().describe()
                  + ": chunk "
                  + chunk
                  + " lacks the sum of "
                  + table.describe(task - 1));
    }
    View[] addends = new View[table.rankCount(task)];
    for (int r = 0; r < addends.length; r++) {
      addends[r] = stretch(call.own.inputs().get(r), chunk);
    }
    View sum = stretch(partial, chunk);
    call.outState = OutState.PARTLY_WRITTEN;
    sums.left(task == 0 ? null : exchange.addend(before, chunk, sum.count()), addends, sum);
    if (task > 0) {
      exchange.releaseAddend(before, chunk);
    }
    if (task < last) {
      exchange.send(task + 1, DeliveryTag.Phase.ADDEND, table.firstRank(task), chunk, sum);
    } else {
      View out = out(chunk);
      sums.finish(sum, out);
      exchange.send(task - 1, DeliveryTag.Phase.RESULT, task, chunk, out);
    }
  }

  /** Moves what can move, and passes results on to the task before. */
  private void pump() {
    exchange.pump();
    while (task > 0 && forwarded < exchange.placed()) {
      exchange.send(task - 1, DeliveryTag.Phase.RESULT, task, forwarded, out(forwarded));
      forwarded++;
    }
  }

  private View out(int chunk) {
    return stretch(call.own.outputs().get(0), chunk);
  }

  private View stretch(View whole, int chunk) {
    long from = (long) chunk * chunkElements;
    return whole.slice(from, Math.min(chunkElements, whole.count() - from));
  }

  /** Results come from the next task, one chunk after the other. */
  private View placeOf(int sender, DeliveryTag tag) {
    boolean known =
        task < last
            && sender == task + 1
            && tag.phase() == DeliveryTag.Phase.RESULT
            && tag.index() == sender
            && tag.chunk() < chunks;
    return known ? out(tag.chunk()) : null;
  }

  @Override
  public void drop() {
    exchange.drop();
  }
}
