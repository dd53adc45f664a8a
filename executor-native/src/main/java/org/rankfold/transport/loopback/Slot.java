// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import java.nio.ByteBuffer;
import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.view.View;

/** A chunk of direct memory that carries one delivery at a time from a lane's sender to its end. */
final class Slot implements Delivery {
  private final Lane lane;
  private final ByteBuffer memory;
  private DeliveryTag tag;
  private View view;
  private boolean held;

  Slot(Lane lane, int chunkBytes) {
    this.lane = lane;
    this.memory = ByteBuffer.allocateDirect(chunkBytes);
  }

  /** Copies the source in; by the sender, who owns the slot now. */
  void fill(DeliveryTag newTag, View source) {
    tag = newTag;
    view = View.of(memory.slice(0, Math.toIntExact(source.byteCount())), source.dtype());
    source.copyTo(view);
    held = true;
  }

  void flipBit() {
    if (view.byteCount() > 0) {
      memory.put(0, (byte) (memory.get(0) ^ 1));
    }
  }

  /** Exchanges what two filled slots carry, not what they are said to carry. */
  void swapTags(Slot other) {
    DeliveryTag mine = tag;
    tag = other.tag;
    other.tag = mine;
  }

  @Override
  public int sender() {
    return lane.sender();
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
    if (held) {
      held = false;
      lane.giveBack(this);
    }
  }
}
