// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.errors.OutState;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.DeviceExchange.Move;
import org.rankfold.transport.RankTable;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/** All-gather and broadcast of device memory over an exchange, each as one movement. */
final class DeviceMoveCall implements CallBody {
  private final DeviceLane lane;

  DeviceMoveCall(DeviceLane lane) {
    this.lane = lane;
  }

  @Override
  public Pass of(Call call) {
    return new DevicePass(call);
  }

  private final class DevicePass extends LanePass {
    private final Call call;
    private final RankTable table;
    private final int task;

    DevicePass(Call call) {
      super(lane);
      this.call = call;
      this.table = call.table;
      this.task = call.task;
    }

    @Override
    public void run() {
      List<Move> sends = new ArrayList<>();
      List<Move> receives = new ArrayList<>();
      lane.begin();
      if (call.header().count() > 0) {
        call.outState = OutState.PARTLY_WRITTEN;
        if (call.header().kind() == CallKind.ALL_GATHER) {
          gather(sends, receives);
        } else {
          broadcast(sends, receives);
        }
      }
      if (!sends.isEmpty() || !receives.isEmpty()) {
        lane.exchange().exchange(sends, receives, lane.moving());
      }
      lane.finish(call);
    }

    private void gather(List<Move> sends, List<Move> receives) {
      for (int r = 0; r < table.rankCount(task); r++) {
        DeviceView row = (DeviceView) call.own.inputs().get(r);
        DeviceView place = placeOf(table.firstRank(task) + r);
        if (!row.isSameStretchAs(place)) {
          lane.moving().copy(row, place);
        }
      }
      for (int peer = 0; peer < table.tasks(); peer++) {
        if (peer != task) {
          for (View row : call.own.inputs()) {
            sends.add(new Move(peer, (DeviceView) row));
          }
          for (int r = 0; r < table.rankCount(peer); r++) {
            receives.add(new Move(peer, placeOf(table.firstRank(peer) + r)));
          }
        }
      }
    }

    private DeviceView placeOf(int rank) {
      long count = call.header().count();
      return (DeviceView) call.own.outputs().get(0).slice(rank * count, count);
    }

    private void broadcast(List<Move> sends, List<Move> receives) {
      int root = table.taskOf(call.header().root());
      DeviceView buffer = (DeviceView) call.own.inputs().get(0);
      for (int peer = 0; peer < table.tasks(); peer++) {
        if (task == root && peer != task) {
          sends.add(new Move(peer, buffer));
        } else if (task != root && peer == root) {
          receives.add(new Move(peer, buffer));
        }
      }
    }
  }
}
