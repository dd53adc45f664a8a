// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.view.View;

/**
 * The slots from one task to another: bounded, in order, one sender thread and one receiver thread.
 * Slots are made when first needed and used again.
 */
final class Lane {
  private final int sender;
  private final int receiver;
  private final int slots;
  private final int chunkBytes;
  private final DeliveryFault fault;
  private final Queue<Slot> filled = new ConcurrentLinkedQueue<>();
  private final Queue<Slot> empty = new ConcurrentLinkedQueue<>();
  private final AtomicInteger inUse = new AtomicInteger();
  private final Queue<Slot> swapped = new ArrayDeque<>();

  Lane(int sender, int receiver, int slots, LoopbackOptions options) {
    this.sender = sender;
    this.receiver = receiver;
    this.slots = slots;
    this.chunkBytes = Math.max(Long.BYTES, options.chunkBytes());
    this.fault = options.fault();
  }

  int sender() {
    return sender;
  }

  boolean offer(DeliveryTag tag, View source) {
    if (inUse.get() >= slots) {
      return false;
    }
    switch (fault.onDelivery(sender, receiver, tag)) {
      case DROP -> {}
      case REPEAT -> {
        send(filledSlot(tag, source));
        send(filledSlot(tag, source));
      }
      case CORRUPT -> {
        Slot slot = filledSlot(tag, source);
        slot.flipBit();
        send(slot);
      }
      case SWAP -> swapped.add(filledSlot(tag, source));
      case NONE -> send(filledSlot(tag, source));
    }
    return true;
  }

  private Slot filledSlot(DeliveryTag tag, View source) {
    inUse.incrementAndGet();
    Slot slot = empty.poll();
    if (slot == null) {
      slot = new Slot(this, chunkBytes);
    }
    slot.fill(tag, source);
    return slot;
  }

  private void send(Slot slot) {
    Slot waiting = swapped.poll();
    if (waiting != null) {
      waiting.swapTags(slot);
      filled.add(waiting);
    }
    filled.add(slot);
  }

  Slot poll() {
    return filled.poll();
  }

  void giveBack(Slot slot) {
    empty.add(slot);
    inUse.decrementAndGet();
  }
}
