// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.DeviceScratch;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.OutState;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.DeviceExchange.Move;
import org.rankfold.transport.RankTable;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * All-reduce and reduce-scatter of device memory over an exchange: in every round each task sends
 * its addends of a chunk to the chunk's owner, who folds them in rank order; an all-reduce sends
 * the results back to all. The whole call is enqueued at once: addends of round k + 1 and k + 2 and
 * results of round k are on their way while round k + 1 is folded.
 */
final class DeviceFoldCall implements CallBody {
  /** Device chunks are this many times as long as the host's: launches cost, bandwidth is high. */
  static final int CHUNK_FACTOR = 64;

  private static final int SETS = 2;
  private static final int SLOT_ALIGNMENT_BYTES = 256;

  private final DeviceLane lane;
  private final Await await;
  private final EngineSettings settings;
  private final AbortLatch latch;

  DeviceFoldCall(DeviceLane lane, Await await, EngineSettings settings, AbortLatch latch) {
    this.lane = lane;
    this.await = await;
    this.settings = settings;
    this.latch = latch;
  }

  /** The stretch in which device memory moves, for a host's stretch. */
  static int chunkBytes(int hostChunkBytes) {
    return (int) Math.min((long) hostChunkBytes * CHUNK_FACTOR, 1 << 30);
  }

  @Override
  public Pass of(Call call) {
    return new DevicePass(call);
  }

  private final class DevicePass implements Pass {
    private final Call call;
    private final RankTable table;
    private final int task;
    private final ReduceContract contract;
    private final boolean distribute;
    private final FoldSchedule schedule;
    private final long slotBytes;
    private DeviceScratch.Block slots;

    DevicePass(Call call) {
      this.call = call;
      this.table = call.table;
      this.task = call.task;
      this.contract = call.header().contract();
      this.distribute = call.header().kind() == CallKind.ALL_REDUCE;
      DType dtype = contract.dtype();
      long count = call.header().count();
      int chunkBytes = chunkBytes(call.header().chunkBytes());
      this.schedule =
          distribute
              ? FoldSchedule.shards(table, dtype, count, chunkBytes)
              : FoldSchedule.parts(table, dtype, count, chunkBytes);
      long longest = schedule.chunks(task) == 0 ? 0 : schedule.length(task, 0) * dtype.bytes();
      this.slotBytes =
          (longest + SLOT_ALIGNMENT_BYTES - 1) / SLOT_ALIGNMENT_BYTES * SLOT_ALIGNMENT_BYTES;
    }

    @Override
    public void sendAhead() {}

    @Override
    public void withdraw() {}

    @Override
    public void run() {
      int foreign = table.world() - table.rankCount(task);
      Deadline deadline = Deadline.after(System.nanoTime(), settings.collectiveTimeoutNs());
      slots = lane.scratch().take((long) SETS * foreign * slotBytes, deadline, latch);
      try (CudaEvent arrived = lane.event();
          CudaEvent folded = lane.event()) {
        call.outState = OutState.PARTLY_WRITTEN;
        enqueue(arrived, folded);
        lane.awaitMoved(call, await, settings);
      }
      slots.giveBackBehind(lane.moving());
      slots = null;
    }

    private void enqueue(CudaEvent arrived, CudaEvent folded) {
      int rounds = schedule.mostChunks();
      CudaEvent[] arrivals = {arrived, lane.event()};
      try {
        for (int round = 0; round < Math.min(SETS, rounds); round++) {
          move(-1, round);
          arrivals[round].record(lane.moving());
        }
        for (int round = 0; round < rounds; round++) {
          await.throwIfAborted();
          lane.folding().waitFor(arrivals[round % SETS]);
          fold(round);
          folded.record(lane.folding());
          lane.moving().waitFor(folded);
          if (isEven(rounds)) {
            lane.exchange().allGather(result(task, round), whole(), lane.moving());
          } else {
            move(round, round + SETS);
          }
          arrivals[round % SETS].record(lane.moving());
        }
      } finally {
        arrivals[1].close();
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

    /** Enqueues one round's results and a later round's addends, as one movement. */
    private void move(int resultRound, int addendRound) {
      List<Move> sends = new ArrayList<>();
      List<Move> receives = new ArrayList<>();
      for (int peer = 0; peer < table.tasks(); peer++) {
        if (peer == task) {
          continue;
        }
        if (distribute && resultRound >= 0) {
          add(sends, peer, result(task, resultRound));
          add(receives, peer, result(peer, resultRound));
        }
        if (addendRound < schedule.chunks(peer)) {
          for (View addend : call.own.inputs()) {
            add(sends, peer, stretch(addend, peer, addendRound));
          }
        }
        if (addendRound < schedule.chunks(task)) {
          for (int r = 0; r < table.rankCount(peer); r++) {
            add(receives, peer, slot(table.firstRank(peer) + r, addendRound));
          }
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
      return (DeviceView) whole.slice(schedule.from(owner, round), schedule.length(owner, round));
    }

    private DeviceView slot(int rank, int round) {
      int first = table.firstRank(task);
      int index = rank < first ? rank : rank - table.rankCount(task);
      int foreign = table.world() - table.rankCount(task);
      long at = ((long) round % SETS * foreign + index) * slotBytes;
      return slots.memory().view(contract.dtype(), at, schedule.length(task, round));
    }

    private void fold(int round) {
      if (round >= schedule.chunks(task) || schedule.length(task, round) == 0) {
        return;
      }
      int first = table.firstRank(task);
      DeviceView[] addends = new DeviceView[table.world()];
      for (int rank = 0; rank < addends.length; rank++) {
        addends[rank] =
            table.taskOf(rank) == task
                ? stretch(call.own.inputs().get(rank - first), task, round)
                : slot(rank, round);
      }
      lane.fold().enqueue(contract, addends, new DeviceView[] {out(round)}, lane.folding());
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

    @Override
    public void drop() {
      lane.abort();
    }

    @Override
    public boolean isFree() {
      return lane.isIdle();
    }
  }
}
