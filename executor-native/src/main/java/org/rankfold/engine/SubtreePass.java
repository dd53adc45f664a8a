// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.engine.Subtrees.Subtree;
import org.rankfold.errors.OutState;
import org.rankfold.fold.PartialFold;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.RankTable;
import org.rankfold.view.View;

/**
 * RANK_TREE by subtrees: a task folds those of its own ranks first and sends their sums to the
 * owner of each shard, who joins all subtrees' sums as the tree has it and sends the result to all.
 */
final class SubtreePass implements CallBody.Pass {
  private static final int CHUNKS_AHEAD = 2;

  private final Call call;
  private final RankTable table;
  private final int task;
  private final Await await;
  private final EngineSettings settings;
  private final PartialFold sums;
  private final PartialScratch scratch;
  private final StagedExchange exchange;
  private final FoldSchedule schedule;
  private final List<Subtree> subtrees;
  private final List<Subtree> own = new ArrayList<>();
  private int sentAhead;
  private int joins;

  SubtreePass(
      Call call,
      PartialFold sums,
      PartialScratch scratch,
      Await await,
      EngineSettings settings,
      ExchangeFactory exchanges) {
    this.call = call;
    this.table = call.table;
    this.task = call.task;
    this.await = await;
    this.settings = settings;
    this.sums = sums;
    this.scratch = scratch;
    this.exchange = exchanges.open(call.number(), this::placeOf);
    this.schedule =
        FoldSchedule.shards(table, sums.dtype(), call.header().count(), settings.chunkBytes());
    this.subtrees = Subtrees.of(table);
    for (Subtree subtree : subtrees) {
      if (table.taskOf(subtree.low()) == task) {
        own.add(subtree);
      }
    }
  }

  @Override
  public void sendAhead() {
    sendSums(0, CHUNKS_AHEAD);
    sentAhead = CHUNKS_AHEAD;
    exchange.pump();
  }

  @Override
  public void withdraw() {
    exchange.withdraw();
    await.until(
        exchange::isSent,
        settings.collectiveTimeoutNs(),
        () -> call.header().describe() + ": a peer takes no bytes");
  }

  @Override
  public void run() {
    try {
      exchange.land();
      int chunks = schedule.chunks(task);
      sendSums(sentAhead, CHUNKS_AHEAD);
      for (int chunk = 0; chunk < chunks; chunk++) {
        await.throwIfAborted();
        sendSums(chunk + CHUNKS_AHEAD, chunk + CHUNKS_AHEAD + 1);
        fold(chunk);
      }
      sendSums(chunks + CHUNKS_AHEAD, schedule.mostChunks());
      awaitResults();
    } finally {
      exchange.endLanding();
    }
  }

  private void sendSums(int fromChunk, int toChunk) {
    for (int peer = 0; peer < table.tasks(); peer++) {
      if (peer == task) {
        continue;
      }
      int end = Math.min(toChunk, schedule.chunks(peer));
      for (int chunk = fromChunk; chunk < end; chunk++) {
        for (int i = 0; i < own.size(); i++) {
          exchange.send(
              peer, DeliveryTag.Phase.ADDEND, own.get(i).low(), chunk, sum(i, peer, chunk));
        }
      }
    }
  }

  /**
   * The sum of an own subtree over a task's chunk, folded now; each is asked for once. It stays
   * where it is until the call has ended, since it is lent to the transport.
   */
  private View sum(int index, int owner, int chunk) {
    Subtree subtree = own.get(index);
    long from = schedule.from(owner, chunk);
    long length = schedule.length(owner, chunk);
    View[] addends = new View[subtree.ranks()];
    for (int r = 0; r < addends.length; r++) {
      int local = subtree.low() - table.firstRank(task) + r;
      addends[r] = call.own.inputs().get(local).slice(from, length);
    }
    DType elements = call.header().dtype();
    if (addends.length == 1 && sums.dtype() == elements) {
      return addends[0];
    }
    View sum = scratch.view(index, sums.dtype(), call.header().count()).slice(from, length);
    sums.subtree(addends, sum);
    return sum;
  }

  private void fold(int chunk) {
    await.until(
        () -> {
          exchange.pump();
          return missing(chunk) == null;
        },
        settings.collectiveTimeoutNs(),
        () ->
            call.header().describe() + ": chunk " + chunk + " lacks the sum of " + missing(chunk));
    View out = schedule.stretch(call.own.outputs().get(0), task, chunk);
    call.outState = OutState.PARTLY_WRITTEN;
    joins = 0;
    View result = joined(0, table.world(), chunk, sums.dtype() == out.dtype() ? out : null);
    sums.finish(result, out);
    for (Subtree subtree : subtrees) {
      if (table.taskOf(subtree.low()) != task) {
        exchange.releaseAddend(subtree.low(), chunk);
      }
    }
    for (int peer = 0; peer < table.tasks(); peer++) {
      if (peer != task) {
        exchange.send(peer, DeliveryTag.Phase.RESULT, task, chunk, out);
      }
    }
  }

  /** The sum of ranks low to high - 1 over the own chunk, in {@code where} or in scratch. */
  private View joined(int low, int high, int chunk, View whereOrNull) {
    long length = schedule.length(task, chunk);
    if (Subtrees.isWhole(table, low, high)) {
      Subtree subtree = new Subtree(low, high);
      int index = own.indexOf(subtree);
      return index < 0 ? exchange.addend(low, chunk, length) : sum(index, task, chunk);
    }
    int middle = Subtrees.middle(low, high);
    View left = joined(low, middle, chunk, null);
    View right = joined(middle, high, chunk, null);
    View sum =
        whereOrNull == null
            ? scratch.view(own.size() + joins++, sums.dtype(), length)
            : whereOrNull;
    sums.join(left, right, sum);
    return sum;
  }

  private Subtree missing(int chunk) {
    for (Subtree subtree : subtrees) {
      if (table.taskOf(subtree.low()) != task && !exchange.hasAddend(subtree.low(), chunk)) {
        return subtree;
      }
    }
    return null;
  }

  private void awaitResults() {
    long expected = 0;
    for (int peer = 0; peer < table.tasks(); peer++) {
      expected += peer == task ? 0 : schedule.chunks(peer);
    }
    long results = expected;
    await.until(
        () -> {
          exchange.pump();
          return exchange.placed() == results && exchange.isSent();
        },
        settings.collectiveTimeoutNs(),
        () -> call.arrived(exchange.placed(), results, "folded chunks"));
  }

  private View placeOf(int sender, DeliveryTag tag) {
    View place = schedule.placeOfResult(call.own.outputs().get(0), sender, tag);
    if (place != null) {
      call.outState = OutState.PARTLY_WRITTEN;
    }
    return place;
  }

  @Override
  public void drop() {
    exchange.drop();
  }
}
