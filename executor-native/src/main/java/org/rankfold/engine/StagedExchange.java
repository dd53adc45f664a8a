// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.view.View;

/**
 * The staged half of a call: bytes on their way out as the transport has room, addends kept until
 * they are folded, results and rows copied to their place as they arrive. A delivery that no
 * correct peer sends, such as one that came before, ends the group.
 */
final class StagedExchange {
  private record Outgoing(DeliveryTag tag, View source) {}

  private final long call;
  private final RankTable table;
  private final Transport transport;
  private final Transport.Landing placement;
  private final EarlyDeliveries early;
  private final Map<Integer, Queue<Outgoing>> outgoing = new HashMap<>();
  private final Map<DeliveryTag, Delivery> addends = new HashMap<>();
  private final Map<Integer, BitSet> seenAddends = new HashMap<>();
  private final Map<Integer, BitSet> seenPlaced = new HashMap<>();
  private long placed;

  StagedExchange(
      long call,
      RankTable table,
      Transport transport,
      Transport.Landing placement,
      EarlyDeliveries early) {
    this.call = call;
    this.table = table;
    this.transport = transport;
    this.placement = placement;
    this.early = early;
  }

  /** Queues a stretch for a staged peer; its memory stays borrowed until {@link #isSent}. */
  void send(int peer, DeliveryTag.Phase phase, int index, int chunk, View source) {
    outgoing
        .computeIfAbsent(peer, p -> new ArrayDeque<>())
        .add(new Outgoing(new DeliveryTag(call, phase, index, chunk), source));
  }

  /** Lets the transport put results and rows where they belong; once all headers agreed. */
  void land() {
    transport.land((sender, tag) -> tag.call() == call ? placement.placeOf(sender, tag) : null);
  }

  /** Ends {@link #land}. */
  void endLanding() {
    transport.land(null);
  }

  /** Moves what can move now. */
  void pump() {
    pumpOut();
    Delivery delivery;
    while ((delivery = early.poll(call)) != null) {
      accept(delivery);
    }
    while ((delivery = transport.poll()) != null) {
      accept(delivery);
    }
  }

  /** Moves what can move, but takes no look that the condition does not need. */
  boolean pumpUntil(BooleanSupplier condition) {
    pumpOut();
    Delivery delivery;
    while (!condition.getAsBoolean()) {
      delivery = early.poll(call);
      if (delivery == null) {
        delivery = transport.poll();
      }
      if (delivery == null) {
        return false;
      }
      accept(delivery);
    }
    return true;
  }

  private void pumpOut() {
    for (Map.Entry<Integer, Queue<Outgoing>> lane : outgoing.entrySet()) {
      Queue<Outgoing> queue = lane.getValue();
      Outgoing next;
      while ((next = queue.peek()) != null
          && transport.offer(lane.getKey(), next.tag(), next.source())) {
        queue.remove();
      }
    }
  }

  private void accept(Delivery delivery) {
    DeliveryTag tag = delivery.tag();
    if (tag.call() == call + 1) {
      early.keep(delivery);
      return;
    }
    if (tag.call() < call && early.isOfRefused(tag.call())) {
      delivery.release();
      return;
    }
    if (tag.call() != call || tag.chunk() < 0) {
      throw refused(delivery, "is not of call #" + call);
    }
    if (tag.phase() == DeliveryTag.Phase.ADDEND) {
      if (tag.index() < 0
          || tag.index() >= table.world()
          || table.taskOf(tag.index()) != delivery.sender()) {
        throw refused(delivery, "is not of a logical rank of its sender");
      }
      markSeen(seenAddends, delivery);
      addends.put(tag, delivery);
      return;
    }
    View place = placement.placeOf(delivery.sender(), tag);
    if (place == null) {
      throw refused(delivery, "has no place in this call");
    }
    if (place.count() != delivery.view().count() || place.dtype() != delivery.view().dtype()) {
      throw refused(delivery, "is " + delivery.view() + " != " + place);
    }
    markSeen(seenPlaced, delivery);
    delivery.view().copyTo(place);
    delivery.release();
    placed++;
  }

  private void markSeen(Map<Integer, BitSet> seen, Delivery delivery) {
    DeliveryTag tag = delivery.tag();
    BitSet chunks = seen.computeIfAbsent(tag.index(), k -> new BitSet());
    if (chunks.get(tag.chunk())) {
      throw refused(delivery, "came before");
    }
    chunks.set(tag.chunk());
  }

  private CollectiveException refused(Delivery delivery, String why) {
    return new CollectiveException(
        ErrorCode.PROTOCOL,
        "delivery " + delivery.tag() + " from " + table.describe(delivery.sender()) + " " + why);
  }

  /** Whether the addend has arrived. */
  boolean hasAddend(int rank, int chunk) {
    return addends.containsKey(new DeliveryTag(call, DeliveryTag.Phase.ADDEND, rank, chunk));
  }

  /** The addend in its slot, valid until released. */
  View addend(int rank, int chunk, long length) {
    Delivery delivery = addends.get(new DeliveryTag(call, DeliveryTag.Phase.ADDEND, rank, chunk));
    if (delivery.view().count() != length) {
      throw refused(delivery, "has " + delivery.view().count() + " elements != " + length);
    }
    return delivery.view();
  }

  /** Gives the slot of a folded addend back. */
  void releaseAddend(int rank, int chunk) {
    addends.remove(new DeliveryTag(call, DeliveryTag.Phase.ADDEND, rank, chunk)).release();
  }

  /** How many results and rows have been put in their place. */
  long placed() {
    return placed;
  }

  /** Whether everything queued was taken and nothing is borrowed any more. */
  boolean isSent() {
    for (Queue<Outgoing> queue : outgoing.values()) {
      if (!queue.isEmpty()) {
        return false;
      }
    }
    return transport.isFlushed();
  }

  /** Forgets what is queued and gives back every slot still held; for a call that is refused. */
  void withdraw() {
    outgoing.clear();
    drop();
  }

  /** Gives back every slot still held; for a call that failed. */
  void drop() {
    addends.values().forEach(Delivery::release);
    addends.clear();
  }
}
