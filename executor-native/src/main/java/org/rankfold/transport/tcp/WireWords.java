// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import org.rankfold.transport.DeliveryTag;

/** Between the engine's phases and the wire's numbers; never renumbered. */
final class WireWords {
  private static final DeliveryTag.Phase[] PHASES = {
    null, DeliveryTag.Phase.ADDEND, DeliveryTag.Phase.RESULT, DeliveryTag.Phase.ROW
  };

  private WireWords() {}

  static DeliveryTag.Phase of(int code) {
    return PHASES[code];
  }

  static int code(DeliveryTag.Phase phase) {
    return switch (phase) {
      case ADDEND -> 1;
      case RESULT -> 2;
      case ROW -> 3;
    };
  }
}
