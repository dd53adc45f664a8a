// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.errors.OutState;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.view.View;

/**
 * All-gather and broadcast: bytes move, nothing is folded. Rows are pushed into mapped peers'
 * outputs and a broadcast's buffer is pulled from a mapped root, so that all tasks copy at once;
 * staged peers are sent chunks.
 */
final class MoveCall implements CallBody {
  private final Transport transport;
  private final Await await;
  private final EngineSettings settings;

  private final EarlyDeliveries early;

  MoveCall(Transport transport, Await await, EngineSettings settings, EarlyDeliveries early) {
    this.transport = transport;
    this.await = await;
    this.settings = settings;
    this.early = early;
  }

  @Override
  public Pass of(Call call) {
    return new MovePass(call);
  }

  private final class MovePass implements Pass {
    private final Call call;
    private final RankTable table;
    private final int task;
    private final boolean gather;
    private final int rootTask;
    private final long count;
    private final int chunkElements;
    private final int[] staged;
    private final boolean[] isStaged;
    private final StagedExchange exchange;

    MovePass(Call call) {
      this.call = call;
      this.table = call.table;
      this.task = call.task;
      this.gather = call.header().kind() == CallKind.ALL_GATHER;
      this.rootTask = gather ? -1 : table.taskOf(call.header().root());
      this.count = call.header().count();
      this.chunkElements =
          FoldSchedule.chunkElements(call.header().dtype(), call.chunkBytes(settings));
      this.staged = call.staged();
      this.isStaged = new boolean[table.tasks()];
      for (int peer : staged) {
        isStaged[peer] = true;
      }
      this.exchange = new StagedExchange(call.number(), table, transport, this::placeOf, early);
    }

    @Override
    public void drop() {
      exchange.drop();
    }

    @Override
    public void run() {
      exchange.land();
      try {
        move();
      } finally {
        exchange.endLanding();
      }
    }

    private void move() {
      if (gather || task == rootTask) {
        sendToStaged();
      }
      if (gather) {
        pushRows();
      } else if (task != rootTask && !isStaged[rootTask]) {
        copyInChunks(call.records[rootTask].inputs().get(0), call.own.outputs().get(0));
      }
      if (staged.length > 0) {
        awaitRows();
      }
    }

    private void sendToStaged() {
      for (int chunk = 0; chunk < chunks(); chunk++) {
        long from = (long) chunk * chunkElements;
        for (int peer : staged) {
          for (int r = 0; r < call.own.inputs().size(); r++) {
            View row = call.own.inputs().get(r);
            int index = gather ? table.firstRank(task) + r : 0;
            exchange.send(
                peer, DeliveryTag.Phase.ROW, index, chunk, row.slice(from, length(chunk)));
          }
        }
      }
    }

    private void pushRows() {
      for (int peer = 0; peer < table.tasks(); peer++) {
        if (isStaged[peer]) {
          continue;
        }
        for (int r = 0; r < call.own.inputs().size(); r++) {
          View row = call.own.inputs().get(r);
          View place = call.outputs(peer).get(0).slice((table.firstRank(task) + r) * count, count);
          if (!row.isSameStretchAs(place)) {
            copyInChunks(row, place);
          }
        }
      }
    }

    private void copyInChunks(View source, View destination) {
      call.outState = OutState.PARTLY_WRITTEN;
      for (int chunk = 0; chunk < chunks(); chunk++) {
        await.throwIfAborted();
        long from = (long) chunk * chunkElements;
        source.slice(from, length(chunk)).copyTo(destination.slice(from, length(chunk)));
      }
    }

    private void awaitRows() {
      long expected = 0;
      for (int peer : staged) {
        if (gather) {
          expected += (long) table.rankCount(peer) * chunks();
        } else if (peer == rootTask) {
          expected += chunks();
        }
      }
      long rows = expected;
      await.until(
          () -> {
            exchange.pump();
            return exchange.placed() == rows && exchange.isSent();
          },
          settings.collectiveTimeoutNs(),
          () -> call.arrived(exchange.placed(), rows, "chunks of rows"));
    }

    private View placeOf(int sender, DeliveryTag tag) {
      if (tag.phase() != DeliveryTag.Phase.ROW || tag.chunk() >= chunks()) {
        return null;
      }
      boolean known =
          gather
              ? tag.index() >= table.firstRank(sender) && tag.index() < table.firstRank(sender + 1)
              : sender == rootTask && tag.index() == 0;
      if (!known) {
        return null;
      }
      call.outState = OutState.PARTLY_WRITTEN;
      long rowStart = gather ? tag.index() * count : 0;
      return call.own
          .outputs()
          .get(0)
          .slice(rowStart + (long) tag.chunk() * chunkElements, length(tag.chunk()));
    }

    private int chunks() {
      return Math.toIntExact((count + chunkElements - 1) / chunkElements);
    }

    private long length(int chunk) {
      return Math.min(chunkElements, count - (long) chunk * chunkElements);
    }
  }
}
