// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.errors.OutState;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.DeviceExchange.Move;
import org.rankfold.transport.RankTable;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * All-reduce and reduce-scatter of device memory over an exchange: in every round each task sends
 * its addends of a chunk, or sums of them, to the chunk's owner, who folds them in the contract's
 * order; an all-reduce sends the results back to all. The whole call is enqueued at once: operands
 * of round k + 1 and k + 2 and results of round k are on their way while round k + 1 is folded.
 */
final class DeviceFoldCall implements CallBody {
  /** Device chunks are this many times as long as the host's: launches cost, bandwidth is high. */
  static final int CHUNK_FACTOR = 64;

  private static final int SETS = ShardOperands.SETS;

  private final DeviceLane lane;
  private final Await await;
  private final PartialPlan plan;

  DeviceFoldCall(DeviceLane lane, Await await, PartialPlan plan) {
    this.lane = lane;
    this.await = await;
    this.plan = plan;
  }

  /** The stretch in which device memory moves, for a host's stretch. */
  static int chunkBytes(int hostChunkBytes) {
    return (int) Math.min((long) hostChunkBytes * CHUNK_FACTOR, 1 << 30);
  }

  @Override
  public Pass of(Call call) {
    return new DevicePass(call);
  }

  private final class DevicePass extends LanePass {
    private final Call call;
    private final RankTable table;
    private final int task;
    private final boolean distribute;
    private final FoldSchedule schedule;
    private final ShardOperands operands;

    DevicePass(Call call) {
      super(lane);
      this.call = call;
      this.table = call.table;
      this.task = call.task;
      this.distribute = call.header().kind() == CallKind.ALL_REDUCE;
      DType dtype = call.header().dtype();
      long count = call.header().count();
      int chunkBytes = chunkBytes(call.header().chunkBytes());
      this.schedule =
          distribute
              ? FoldSchedule.shards(table, dtype, count, chunkBytes)
              : FoldSchedule.parts(table, dtype, count, chunkBytes);
      this.operands =
          plan == PartialPlan.SUBTREES
              ? new SubtreeOperands(lane, call, schedule)
              : new AddendOperands(lane, call, schedule);
    }

    @Override
    public void run() {
      operands.place(lane.room(operands.scratchBytes()));
      lane.begin();
      call.outState = OutState.PARTLY_WRITTEN;
      enqueue();
      lane.finish(call);
    }

    private void enqueue() {
      int rounds = schedule.mostChunks();
      int ahead = Math.min(SETS, rounds);
      for (int round = 0; round < ahead; round++) {
        operands.prepare(round);
      }
      lane.folded(0).record(lane.folding());
      lane.moving().waitFor(lane.folded(0));
      for (int round = 0; round < ahead; round++) {
        move(-1, round);
        lane.arrived(round).record(lane.moving());
      }
      for (int round = 0; round < rounds; round++) {
        await.throwIfAborted();
        lane.folding().waitFor(lane.arrived(round));
        fold(round);
        operands.prepare(round + SETS);
        lane.folded(round).record(lane.folding());
        lane.moving().waitFor(lane.folded(round));
        if (isEven(rounds)) {
          lane.exchange().allGather(result(task, round), whole(), lane.moving());
        } else {
          move(round, round + SETS);
        }
        lane.arrived(round).record(lane.moving());
      }
    }

    /**
     * Whether the results are equal parts of the output, one a task: then a gathering moves them.
     */
    private boolean isEven(int rounds) {
      return distribute
          && rounds == 1
          && schedule.length(task, 0) * table.tasks() == call.header().count();
    }

    private DeviceView whole() {
      return (DeviceView) call.own.outputs().get(0);
    }

    /** Enqueues one round's results and a later round's operands, as one movement. */
    private void move(int resultRound, int operandRound) {
      List<Move> sends = new ArrayList<>();
      List<Move> receives = new ArrayList<>();
      for (int peer = 0; peer < table.tasks(); peer++) {
        if (peer == task) {
          continue;
        }
        int to = peer;
        if (distribute && resultRound >= 0) {
          add(sends, peer, result(task, resultRound));
          add(receives, peer, result(peer, resultRound));
        }
        if (operandRound < schedule.chunks(peer)) {
          operands.sent(peer, operandRound).forEach(view -> add(sends, to, view));
        }
        if (operandRound < schedule.chunks(task)) {
          operands.received(peer, operandRound).forEach(view -> add(receives, to, view));
        }
      }
      if (!sends.isEmpty() || !receives.isEmpty()) {
        lane.exchange().exchange(sends, receives, lane.moving());
      }
    }

    private static void add(List<Move> moves, int peer, DeviceView viewOrNull) {
      if (viewOrNull != null && viewOrNull.count() > 0) {
        moves.add(new Move(peer, viewOrNull));
      }
    }

    private DeviceView result(int owner, int round) {
      return round < schedule.chunks(owner) ? stretch(whole(), owner, round) : null;
    }

    private DeviceView stretch(View whole, int owner, int round) {
      return (DeviceView) schedule.stretch(whole, owner, round);
    }

    private void fold(int round) {
      if (round < schedule.chunks(task) && schedule.length(task, round) > 0) {
        operands.fold(round, out(round));
      }
    }

    private DeviceView out(int round) {
      if (distribute) {
        return stretch(call.own.outputs().get(0), task, round);
      }
      int local = schedule.part(task, round) - table.firstRank(task);
      return (DeviceView)
          call.own
              .outputs()
              .get(local)
              .slice(schedule.fromInPart(round), schedule.length(task, round));
    }
  }
}
