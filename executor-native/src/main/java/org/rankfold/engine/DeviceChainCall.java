// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.errors.OutState;
import org.rankfold.transport.DeviceExchange.Move;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * RANK_LEFT on devices by a chain, as {@link ChainPass} has it for host memory: the sum of a chunk
 * goes from task to task and grows, the result goes back the same way. {@link ChainSteps} says what
 * moves when; all of it is enqueued at once. A sum waits in {@code out}, whose chunk the result
 * overwrites when the next task has the sum.
 */
final class DeviceChainCall implements CallBody {
  private final DeviceLane lane;
  private final Await await;

  DeviceChainCall(DeviceLane lane, Await await) {
    this.lane = lane;
    this.await = await;
  }

  @Override
  public Pass of(Call call) {
    return new DevicePass(call);
  }

  private final class DevicePass extends LanePass {
    private final Call call;
    private final int task;
    private final ReduceContract contract;
    private final DeviceView out;
    private final int chunkElements;
    private final ChainSteps steps;
    private final long slotBytes;
    private DeviceMemory slots;

    DevicePass(Call call) {
      super(lane);
      this.call = call;
      this.task = call.task;
      this.contract = call.header().contract();
      this.out = (DeviceView) call.own.outputs().get(0);
      this.chunkElements =
          FoldSchedule.chunkElements(
              contract.dtype(), DeviceFoldCall.chunkBytes(call.header().chunkBytes()));
      long count = call.header().count();
      this.steps =
          new ChainSteps(
              call.table.tasks(), Math.toIntExact((count + chunkElements - 1) / chunkElements));
      this.slotBytes =
          DeviceLane.aligned(Math.min(chunkElements, count) * contract.dtype().bytes());
    }

    @Override
    public void run() {
      if (task > 0) {
        slots = lane.room(ChainSteps.SLOTS * slotBytes);
      }
      lane.begin();
      call.outState = OutState.PARTLY_WRITTEN;
      for (int step = -1; step < steps.steps(); step++) {
        await.throwIfAborted();
        fold(step);
        if (step >= 0) {
          move(step);
        }
      }
      lane.finish(call);
    }

    private void fold(int step) {
      int chunk = steps.folded(task, step);
      if (chunk != ChainSteps.NONE) {
        List<DeviceView> operands = new ArrayList<>();
        if (task > 0) {
          lane.folding().waitFor(lane.arrived(step - 1));
          operands.add(slot(chunk));
        }
        for (View addend : call.own.inputs()) {
          operands.add(stretch((DeviceView) addend, chunk));
        }
        lane.fold()
            .enqueuePiece(
                contract,
                operands.toArray(DeviceView[]::new),
                stretch(out, chunk),
                task == steps.tasks() - 1,
                lane.folding());
      }
      lane.folded(step).record(lane.folding());
    }

    /** Behind the folds beside the steps before: those beside this one go on meanwhile. */
    private void move(int step) {
      List<Move> sends = new ArrayList<>();
      List<Move> receives = new ArrayList<>();
      lane.moving().waitFor(lane.folded(step - 1));
      add(sends, task + 1, steps.sumSent(task, step), false);
      add(receives, task - 1, steps.sumReceived(task, step), true);
      add(sends, task - 1, steps.resultSent(task, step), false);
      add(receives, task + 1, steps.resultReceived(task, step), false);
      if (!sends.isEmpty() || !receives.isEmpty()) {
        lane.exchange().exchange(sends, receives, lane.moving());
      }
      lane.arrived(step).record(lane.moving());
    }

    private void add(List<Move> moves, int peer, int chunk, boolean inSlot) {
      if (chunk != ChainSteps.NONE) {
        moves.add(new Move(peer, inSlot ? slot(chunk) : stretch(out, chunk)));
      }
    }

    private DeviceView slot(int chunk) {
      long at = chunk % ChainSteps.SLOTS * slotBytes;
      return slots.view(contract.dtype(), at, stretch(out, chunk).count());
    }

    private DeviceView stretch(DeviceView whole, int chunk) {
      long from = (long) chunk * chunkElements;
      return whole.slice(from, Math.min(chunkElements, whole.count() - from));
    }
  }
}
