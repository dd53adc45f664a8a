// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.view.View;

/** What has arrived in a lane: the sender's slot, mapped. */
final class LaneDelivery implements Delivery {
  private final int sender;
  private final Lane lane;
  private final long number;
  private final DeliveryTag tag;
  private final View view;

  LaneDelivery(int sender, Lane lane, long number, PeerSegments segments) {
    this.sender = sender;
    this.lane = lane;
    this.number = number;
    this.tag = lane.tag(number);
    this.view =
        View.of(segments.bytes(lane.place(number), lane.byteCount(number)), lane.dtype(number));
  }

  @Override
  public int sender() {
    return sender;
  }

  @Override
  public DeliveryTag tag() {
    return tag;
  }

  @Override
  public View view() {
    return view;
  }

  @Override
  public void release() {
    if (!lane.isReleased(number)) {
      lane.release(number);
    }
  }
}
