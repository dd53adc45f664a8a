// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.engine.Subtrees.Subtree;
import org.rankfold.transport.RankTable;
import org.rankfold.view.DeviceView;

/**
 * RANK_TREE: the sums of the subtrees that lie whole on a task travel, and the owner joins them as
 * the tree has it, as {@link SubtreePass} does on hosts. A subtree of one rank is its addend.
 *
 * <p>Scratch, in slots of the longest chunk: for each of two sets the peers' sums and, for each
 * peer, the own sums that leave; then one for each sum and join of the own chunk.
 */
final class SubtreeOperands implements ShardOperands {
  private final DeviceLane lane;
  private final Call call;
  private final RankTable table;
  private final FoldSchedule schedule;
  private final ReduceContract contract;
  private final List<Subtree> own = new ArrayList<>();
  private final List<Subtree> foreign = new ArrayList<>();
  private final long slotBytes;
  private final int setSlots;
  private DeviceMemory scratch;
  private int joins;

  SubtreeOperands(DeviceLane lane, Call call, FoldSchedule schedule) {
    this.lane = lane;
    this.call = call;
    this.table = call.table;
    this.schedule = schedule;
    this.contract = call.header().contract();
    for (Subtree subtree : Subtrees.of(table)) {
      (table.taskOf(subtree.low()) == call.task ? own : foreign).add(subtree);
    }
    // The first task's shard is the longest, and its first chunk.
    this.slotBytes = DeviceLane.aligned(schedule.length(0, 0) * contract.dtype().bytes());
    this.setSlots = foreign.size() + own.size() * table.tasks();
  }

  @Override
  public long scratchBytes() {
    return ((long) SETS * setSlots + own.size() + foreign.size()) * slotBytes;
  }

  @Override
  public void place(DeviceMemory memory) {
    scratch = memory;
  }

  @Override
  public void prepare(int round) {
    for (int peer = 0; peer < table.tasks(); peer++) {
      if (peer != call.task && round < schedule.chunks(peer)) {
        for (int i = 0; i < own.size(); i++) {
          if (own.get(i).ranks() > 1) {
            sum(own.get(i), peer, round, leaving(i, peer, round));
          }
        }
      }
    }
  }

  @Override
  public List<DeviceView> sent(int peer, int round) {
    List<DeviceView> sums = new ArrayList<>();
    for (int i = 0; i < own.size(); i++) {
      Subtree subtree = own.get(i);
      sums.add(subtree.ranks() > 1 ? leaving(i, peer, round) : addend(subtree.low(), peer, round));
    }
    return sums;
  }

  @Override
  public List<DeviceView> received(int peer, int round) {
    List<DeviceView> slots = new ArrayList<>();
    for (int i = 0; i < foreign.size(); i++) {
      if (table.taskOf(foreign.get(i).low()) == peer) {
        slots.add(slot(set(round) + i, schedule.length(call.task, round)));
      }
    }
    return slots;
  }

  @Override
  public void fold(int round, DeviceView out) {
    joins = 0;
    joined(0, table.world(), round, out);
  }

  /** The sum of ranks low to high - 1 over the own chunk, in {@code where} or in scratch. */
  private DeviceView joined(int low, int high, int round, DeviceView whereOrNull) {
    if (Subtrees.isWhole(table, low, high)) {
      Subtree subtree = new Subtree(low, high);
      int arrived = foreign.indexOf(subtree);
      if (arrived >= 0) {
        return slot(set(round) + arrived, schedule.length(call.task, round));
      }
      return subtree.ranks() == 1
          ? addend(low, call.task, round)
          : sum(subtree, call.task, round, join(round));
    }
    int middle = Subtrees.middle(low, high);
    DeviceView left = joined(low, middle, round, null);
    DeviceView right = joined(middle, high, round, null);
    DeviceView sum = whereOrNull == null ? join(round) : whereOrNull;
    lane.fold()
        .enqueuePiece(
            contract, new DeviceView[] {left, right}, sum, whereOrNull != null, lane.folding());
    return sum;
  }

  private DeviceView sum(Subtree subtree, int owner, int round, DeviceView sum) {
    DeviceView[] addends = new DeviceView[subtree.ranks()];
    for (int r = 0; r < addends.length; r++) {
      addends[r] = addend(subtree.low() + r, owner, round);
    }
    lane.fold().enqueuePiece(contract, addends, sum, false, lane.folding());
    return sum;
  }

  private DeviceView addend(int rank, int owner, int round) {
    int local = rank - table.firstRank(call.task);
    return (DeviceView) schedule.stretch(call.own.inputs().get(local), owner, round);
  }

  private DeviceView leaving(int index, int peer, int round) {
    return slot(
        set(round) + foreign.size() + (long) peer * own.size() + index,
        schedule.length(peer, round));
  }

  /** Used on the folding stream only, one round after the other. */
  private DeviceView join(int round) {
    return slot((long) SETS * setSlots + joins++, schedule.length(call.task, round));
  }

  private long set(int round) {
    return (long) round % SETS * setSlots;
  }

  private DeviceView slot(long index, long count) {
    return scratch.view(contract.dtype(), index * slotBytes, count);
  }
}
