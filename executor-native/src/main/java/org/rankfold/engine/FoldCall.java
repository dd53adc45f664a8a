// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.contract.ReduceContract;
import org.rankfold.errors.OutState;
import org.rankfold.fold.Fold;
import org.rankfold.fold.PartialFold;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.view.View;

/**
 * All-reduce and reduce-scatter: every task folds its chunks from L views in rank order, read in
 * place from mapped peers and from slots of staged ones; an all-reduce stores each result into the
 * mapped peers' outputs in the same pass and sends it to the staged ones. Where tasks host several
 * logical ranks and all pairs are staged, sums may travel instead: see {@link PartialPlan}.
 */
final class FoldCall implements CallBody {
  private static final int CHUNKS_AHEAD = 2;

  private final Transport transport;
  private final Fold fold;
  private final Await await;
  private final EngineSettings settings;

  private final EarlyDeliveries early;
  private final PartialScratch scratch = new PartialScratch();

  FoldCall(
      Transport transport, Fold fold, Await await, EngineSettings settings, EarlyDeliveries early) {
    this.transport = transport;
    this.fold = fold;
    this.await = await;
    this.settings = settings;
    this.early = early;
  }

  @Override
  public Pass of(Call call) {
    if (call.isCarried()) {
      return new CarriedPass(call, fold);
    }
    PartialPlan plan = PartialPlan.of(call.header(), call.table, transport, settings);
    if (plan == PartialPlan.ADDENDS) {
      return new FoldPass(call);
    }
    PartialFold sums = new PartialFold(call.header().contract(), fold);
    ExchangeFactory exchanges =
        (number, placement) -> new StagedExchange(number, call.table, transport, placement, early);
    return plan == PartialPlan.CHAIN
        ? new ChainPass(call, sums, scratch, await, settings, exchanges)
        : new SubtreePass(call, sums, scratch, await, settings, exchanges);
  }

  private final class FoldPass implements Pass {
    private final Call call;
    private final RankTable table;
    private final int task;
    private final ReduceContract contract;
    private final boolean distribute;
    private final boolean isSmall;
    private final boolean mustBeSentFirst;
    private final FoldSchedule schedule;
    private final StagedExchange exchange;
    private final int[] staged;
    private final int[] mapped;
    private final boolean[] isStagedRank;
    private int sentAhead;

    FoldPass(Call call) {
      this.call = call;
      this.table = call.table;
      this.task = call.task;
      this.contract = call.header().contract();
      this.distribute = call.header().kind() == CallKind.ALL_REDUCE;
      this.staged = call.staged();
      this.mapped = call.mapped();
      this.isSmall =
          distribute
              && mapped.length == 0
              && staged.length > 0
              && call.header().count() * contract.dtype().bytes() <= transport.smallBytes();
      this.mustBeSentFirst = isSmall && Aliasing.isInPlace(call.own);
      this.schedule =
          isSmall
              ? FoldSchedule.whole(table, call.header().count())
              : distribute
                  ? FoldSchedule.shards(
                      table, contract.dtype(), call.header().count(), call.chunkBytes(settings))
                  : FoldSchedule.parts(
                      table, contract.dtype(), call.header().count(), call.chunkBytes(settings));
      this.exchange =
          staged.length == 0
              ? null
              : new StagedExchange(call.number(), table, transport, this::placeOf, early);
      this.isStagedRank = new boolean[table.world()];
      for (int peer : staged) {
        for (int r = 0; r < table.rankCount(peer); r++) {
          isStagedRank[table.firstRank(peer) + r] = true;
        }
      }
    }

    @Override
    public void sendAhead() {
      if (exchange != null) {
        sendAddends(0, CHUNKS_AHEAD);
        sentAhead = CHUNKS_AHEAD;
        exchange.pump();
      }
    }

    @Override
    public void withdraw() {
      if (exchange != null) {
        exchange.withdraw();
        await.until(
            transport::isFlushed,
            settings.collectiveTimeoutNs(),
            () -> call.header().describe() + ": a peer takes no bytes");
      }
    }

    @Override
    public void run() {
      if (exchange == null) {
        runChunks();
        return;
      }
      try {
        exchange.land();
        runChunks();
      } finally {
        exchange.endLanding();
      }
    }

    @Override
    public void drop() {
      if (exchange != null) {
        exchange.drop();
      }
    }

    private void runChunks() {
      int chunks = schedule.chunks(task);
      sendAddends(sentAhead, CHUNKS_AHEAD);
      for (int chunk = 0; chunk < chunks; chunk++) {
        await.throwIfAborted();
        sendAddends(chunk + CHUNKS_AHEAD, chunk + CHUNKS_AHEAD + 1);
        foldChunk(chunk);
      }
      if (exchange != null) {
        sendAddends(chunks + CHUNKS_AHEAD, schedule.mostChunks());
        awaitResults();
      }
    }

    private void sendAddends(int fromChunk, int toChunk) {
      for (int peer : staged) {
        int end = Math.min(toChunk, schedule.chunks(peer));
        for (int chunk = fromChunk; chunk < end; chunk++) {
          long from = schedule.from(peer, chunk);
          long length = schedule.length(peer, chunk);
          for (int r = 0; r < table.rankCount(task); r++) {
            View stretch = call.own.inputs().get(r).slice(from, length);
            exchange.send(
                peer, DeliveryTag.Phase.ADDEND, table.firstRank(task) + r, chunk, stretch);
          }
        }
      }
    }

    private void foldChunk(int chunk) {
      long from = schedule.from(task, chunk);
      long length = schedule.length(task, chunk);
      if (exchange != null) {
        await.until(
            () -> {
              if (isSmall && !mustBeSentFirst) {
                return exchange.pumpUntil(() -> hasAddends(chunk));
              }
              exchange.pump();
              return hasAddends(chunk) && (!mustBeSentFirst || exchange.isSent());
            },
            settings.collectiveTimeoutNs(),
            () -> missingAddends(chunk));
      }
      View[] addends = new View[table.world()];
      for (int rank = 0; rank < addends.length; rank++) {
        addends[rank] =
            isStagedRank[rank]
                ? exchange.addend(rank, chunk, length)
                : call.input(rank).slice(from, length);
      }
      call.outState = OutState.PARTLY_WRITTEN;
      View[] outs = outs(chunk, from, length);
      fold.fold(contract, addends, outs);
      if (exchange != null) {
        for (int rank = 0; rank < addends.length; rank++) {
          if (isStagedRank[rank]) {
            exchange.releaseAddend(rank, chunk);
          }
        }
        if (distribute && !isSmall) {
          for (int peer : staged) {
            exchange.send(peer, DeliveryTag.Phase.RESULT, task, chunk, outs[0]);
          }
        }
      }
    }

    private View[] outs(int chunk, long from, long length) {
      if (!distribute) {
        int local = schedule.part(task, chunk) - table.firstRank(task);
        View part = call.own.outputs().get(local);
        return new View[] {part.slice(schedule.fromInPart(chunk), length)};
      }
      View[] outs = new View[1 + mapped.length];
      outs[0] = call.own.outputs().get(0).slice(from, length);
      for (int i = 0; i < mapped.length; i++) {
        outs[1 + i] = call.outputs(mapped[i]).get(0).slice(from, length);
      }
      return outs;
    }

    private boolean hasAddends(int chunk) {
      for (int rank = 0; rank < isStagedRank.length; rank++) {
        if (isStagedRank[rank] && !exchange.hasAddend(rank, chunk)) {
          return false;
        }
      }
      return true;
    }

    private String missingAddends(int chunk) {
      StringBuilder text = new StringBuilder(call.header().describe());
      text.append(": chunk ").append(chunk).append(" lacks the addends of logical ranks");
      for (int rank = 0; rank < isStagedRank.length; rank++) {
        if (isStagedRank[rank] && !exchange.hasAddend(rank, chunk)) {
          text.append(' ').append(rank);
        }
      }
      return text.toString();
    }

    private void awaitResults() {
      long expected = 0;
      if (distribute && !isSmall) {
        for (int peer : staged) {
          expected += schedule.chunks(peer);
        }
      }
      long results = expected;
      await.until(
          () -> {
            if (!isSmall || !exchange.isSent()) {
              exchange.pump();
            }
            return exchange.placed() == results && exchange.isSent();
          },
          settings.collectiveTimeoutNs(),
          () -> call.arrived(exchange.placed(), results, "folded chunks"));
    }

    private View placeOf(int sender, DeliveryTag tag) {
      View place =
          distribute && !isSmall
              ? schedule.placeOfResult(call.own.outputs().get(0), sender, tag)
              : null;
      if (place != null) {
        call.outState = OutState.PARTLY_WRITTEN;
      }
      return place;
    }
  }
}
