// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

/** A call whose work a lane's device does: it has failed when the device has let go of it. */
abstract class LanePass implements CallBody.Pass {
  private final DeviceLane lane;

  LanePass(DeviceLane lane) {
    this.lane = lane;
  }

  @Override
  public final void drop() {
    lane.abort();
  }

  @Override
  public final boolean isFree() {
    return lane.isIdle();
  }
}
