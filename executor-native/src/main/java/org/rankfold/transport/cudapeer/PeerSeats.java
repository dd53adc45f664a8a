// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.math.BigInteger;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rankfold.cuda.CudaEvent;

/** Where tasks of one process find each other's events, which a process cannot open by handle. */
final class PeerSeats {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** This process, to itself and to others: never the same twice. */
  static final String PROCESS = random();

  /** The process's own. */
  static final PeerSeats LOCAL = new PeerSeats();

  private final Map<String, CudaEvent> events = new ConcurrentHashMap<>();

  private PeerSeats() {}

  private static String random() {
    return new BigInteger(128, RANDOM).toString(Character.MAX_RADIX);
  }

  /** Shows an event to the other tasks of the process, under a name that it returns. */
  String add(CudaEvent event) {
    String name = random();
    events.put(name, event);
    return name;
  }

  CudaEvent of(String name) {
    return events.get(name);
  }

  void remove(String name) {
    events.remove(name);
  }
}
