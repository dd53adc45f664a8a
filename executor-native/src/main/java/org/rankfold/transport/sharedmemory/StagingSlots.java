// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import org.rankfold.transport.DeliveryTag;
import org.rankfold.view.View;

/**
 * Stretches of a segment that bytes are copied to on their way to peers; the segment is made when
 * the first byte comes. A slot is used again when every peer it was lent to has released it. Owned
 * by the sending task's thread.
 */
final class StagingSlots {
  private static final class Slot {
    final long[] numbers;
    DeliveryTag tag;

    Slot(int lanes) {
      this.numbers = new long[lanes];
    }
  }

  private final OwnSegments segments;
  private final int slotBytes;
  private final Lane[] lanes;
  private final Slot[] slots;
  private int segment = -1;

  /** Slots for the lanes given; a null lane is never lent to. */
  StagingSlots(OwnSegments segments, int count, int slotBytes, Lane... lanes) {
    this.segments = segments;
    this.slotBytes = BoardLayout.aligned(slotBytes);
    this.lanes = lanes;
    this.slots = new Slot[count];
    for (int i = 0; i < count; i++) {
      slots[i] = new Slot(lanes.length);
    }
  }

  /** The slot that holds a delivery, or -1. */
  int filledWith(DeliveryTag tag) {
    for (int i = 0; i < slots.length; i++) {
      if (tag.equals(slots[i].tag)) {
        return i;
      }
    }
    return -1;
  }

  /** A slot nobody reads, or -1. */
  int free() {
    for (int i = 0; i < slots.length; i++) {
      if (isFree(slots[i])) {
        return i;
      }
    }
    return -1;
  }

  private boolean isFree(Slot slot) {
    for (int i = 0; i < lanes.length; i++) {
      long number = slot.numbers[i];
      if (number != 0 && !lanes[i].isReleased(number)) {
        return false;
      }
    }
    return true;
  }

  void fill(int slot, DeliveryTag tag, View source) {
    if (source.byteCount() > slotBytes) {
      throw new IllegalArgumentException(source.byteCount() + " bytes > slot=" + slotBytes);
    }
    if (segment < 0) {
      segment = segments.add(Math.multiplyExact(slots.length, slotBytes), false);
    }
    source.copyTo(
        View.of(
            segments.bytes(segment).slice(slot * slotBytes, Math.toIntExact(source.byteCount())),
            source.dtype()));
    slots[slot].tag = tag;
  }

  /** Notes that a delivery of a lane lies in the slot. */
  void lend(int slot, int lane, long number) {
    slots[slot].numbers[lane] = number;
  }

  Place place(int slot) {
    return new Place(segment, slot * slotBytes);
  }
}
