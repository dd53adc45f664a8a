// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import org.rankfold.transport.DeliveryTag;
import org.rankfold.view.View;

/** A sender's end of a lane. Addends have slots of the pair; what all peers get alike is shared. */
final class LaneEnd {
  private final int receiver;
  private final Lane lane;
  private final StagingSlots own;
  private final StagingSlots shared;
  private long sent;
  private long firstOfOwn;
  private long firstOfShared;

  LaneEnd(int receiver, Lane lane, StagingSlots own, StagingSlots shared) {
    this.receiver = receiver;
    this.lane = lane;
    this.own = own;
    this.shared = shared;
  }

  boolean offer(DeliveryTag tag, View source) {
    long number = sent + 1;
    if (!lane.isFree(number)) {
      return false;
    }
    boolean isShared =
        tag.phase() == DeliveryTag.Phase.RESULT || tag.phase() == DeliveryTag.Phase.ROW;
    StagingSlots slots = isShared ? shared : own;
    int slot = isShared ? slots.filledWith(tag) : -1;
    if (slot < 0) {
      slot = slots.free();
      if (slot < 0) {
        return false;
      }
      slots.fill(slot, tag, source);
    }
    slots.lend(slot, isShared ? receiver : 0, number);
    lane.send(number, tag, source.dtype(), slots.place(slot), Math.toIntExact(source.byteCount()));
    sent = number;
    if (isShared && firstOfShared == 0) {
      firstOfShared = number;
    }
    if (!isShared && firstOfOwn == 0) {
      firstOfOwn = number;
    }
    return true;
  }

  /** Whether the receiver has mapped every slot segment it needs: the files may be closed. */
  boolean isMapped() {
    return isMapped(firstOfOwn) && isMapped(firstOfShared);
  }

  private boolean isMapped(long first) {
    return first == 0 || lane.isReleased(first);
  }
}
