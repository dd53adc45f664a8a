// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayDeque;
import org.rankfold.transport.Delivery;

/**
 * Deliveries that are not of the call at hand: those of the next one, from peers that are ahead,
 * and those of calls that were refused after they had left. Owned by the engine's thread.
 */
final class EarlyDeliveries {
  private final ArrayDeque<Delivery> next = new ArrayDeque<>();
  private long lastRefused;

  /** A call ended without its deliveries being used. */
  void onRefused(long call) {
    lastRefused = call;
  }

  boolean isOfRefused(long call) {
    return call <= lastRefused;
  }

  void keep(Delivery delivery) {
    next.add(delivery);
  }

  /** The next delivery kept for the call, or null. */
  Delivery poll(long call) {
    Delivery first;
    while ((first = next.peek()) != null && first.tag().call() <= call) {
      next.remove();
      if (first.tag().call() == call) {
        return first;
      }
      first.release();
    }
    return null;
  }

  void drop() {
    next.forEach(Delivery::release);
    next.clear();
  }
}
