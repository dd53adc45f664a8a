// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import org.rankfold.transport.DeliveryTag;

/**
 * Holds the staged addends of a chunk back until all are there and hands them out in a chosen
 * order. Owned by the receiving task's thread.
 */
final class AddendSorter {
  private final DeliveryOrder order;
  private final int addendsPerChunk;
  private final Map<Long, List<Slot>> held = new HashMap<>();
  private final Queue<Slot> ready = new ArrayDeque<>();

  AddendSorter(DeliveryOrder order, int addendsPerChunk) {
    this.order = order;
    this.addendsPerChunk = addendsPerChunk;
  }

  void accept(Slot slot) {
    DeliveryTag tag = slot.tag();
    if (order.kind() == DeliveryOrder.Kind.ARRIVAL || tag.phase() != DeliveryTag.Phase.ADDEND) {
      ready.add(slot);
      return;
    }
    List<Slot> chunk = held.computeIfAbsent((long) tag.chunk(), k -> new ArrayList<>());
    chunk.add(slot);
    if (chunk.size() == addendsPerChunk) {
      held.remove((long) tag.chunk());
      chunk.sort(Comparator.comparingInt(s -> s.tag().index()));
      if (order.kind() == DeliveryOrder.Kind.DESCENDING) {
        Collections.reverse(chunk);
      } else if (order.kind() == DeliveryOrder.Kind.SHUFFLED) {
        Collections.shuffle(chunk, new Random(order.seed() * 31 + tag.call() * 17 + tag.chunk()));
      }
      ready.addAll(chunk);
    }
  }

  Slot poll() {
    return ready.poll();
  }
}
