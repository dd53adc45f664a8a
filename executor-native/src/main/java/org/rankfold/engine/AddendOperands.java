// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.transport.RankTable;
import org.rankfold.view.DeviceView;

/** All addends travel, and the owner folds them in one launch. */
final class AddendOperands implements ShardOperands {
  private final DeviceLane lane;
  private final Call call;
  private final RankTable table;
  private final FoldSchedule schedule;
  private final int foreign;
  private final long slotBytes;
  private DeviceMemory scratch;

  AddendOperands(DeviceLane lane, Call call, FoldSchedule schedule) {
    this.lane = lane;
    this.call = call;
    this.table = call.table;
    this.schedule = schedule;
    this.foreign = table.world() - table.rankCount(call.task);
    long longest = schedule.chunks(call.task) == 0 ? 0 : schedule.length(call.task, 0);
    this.slotBytes = DeviceLane.aligned(longest * call.header().dtype().bytes());
  }

  @Override
  public long scratchBytes() {
    return (long) SETS * foreign * slotBytes;
  }

  @Override
  public void place(DeviceMemory memory) {
    scratch = memory;
  }

  @Override
  public void prepare(int round) {}

  @Override
  public List<DeviceView> sent(int peer, int round) {
    List<DeviceView> stretches = new ArrayList<>();
    for (int r = 0; r < table.rankCount(call.task); r++) {
      stretches.add(own(r, peer, round));
    }
    return stretches;
  }

  @Override
  public List<DeviceView> received(int peer, int round) {
    List<DeviceView> slots = new ArrayList<>();
    for (int r = 0; r < table.rankCount(peer); r++) {
      slots.add(slot(table.firstRank(peer) + r, round));
    }
    return slots;
  }

  @Override
  public void fold(int round, DeviceView out) {
    int first = table.firstRank(call.task);
    DeviceView[] addends = new DeviceView[table.world()];
    for (int rank = 0; rank < addends.length; rank++) {
      addends[rank] =
          table.taskOf(rank) == call.task ? own(rank - first, call.task, round) : slot(rank, round);
    }
    lane.fold().enqueue(call.header().contract(), addends, new DeviceView[] {out}, lane.folding());
  }

  private DeviceView own(int local, int owner, int round) {
    return (DeviceView) schedule.stretch(call.own.inputs().get(local), owner, round);
  }

  private DeviceView slot(int rank, int round) {
    int first = table.firstRank(call.task);
    int index = rank < first ? rank : rank - table.rankCount(call.task);
    long at = ((long) round % SETS * foreign + index) * slotBytes;
    return scratch.view(call.header().dtype(), at, schedule.length(call.task, round));
  }
}
