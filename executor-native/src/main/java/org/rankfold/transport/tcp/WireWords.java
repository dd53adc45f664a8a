// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.wire.CallMessage;

/** Between the engine's words and the wire's numbers; never renumbered. */
final class WireWords {
  private static final DeliveryTag.Phase[] PHASES = {
    null, DeliveryTag.Phase.ADDEND, DeliveryTag.Phase.RESULT, DeliveryTag.Phase.ROW
  };
  private static final CallKind[] KINDS = {
    null,
    CallKind.ALL_REDUCE,
    CallKind.REDUCE_SCATTER,
    CallKind.ALL_GATHER,
    CallKind.BROADCAST,
    CallKind.BARRIER
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

  private static int code(CallKind kind) {
    return switch (kind) {
      case ALL_REDUCE -> 1;
      case REDUCE_SCATTER -> 2;
      case ALL_GATHER -> 3;
      case BROADCAST -> 4;
      case BARRIER -> 5;
    };
  }

  static CallMessage message(CallHeader header) {
    return new CallMessage(
        code(header.kind()),
        header.contract(),
        header.dtype(),
        header.count(),
        header.root(),
        header.chunkBytes(),
        header.onDevice(),
        header.refusal(),
        header.refusalText());
  }

  static CallHeader header(long number, CallMessage message) {
    return new CallHeader(
        number,
        KINDS[message.kind()],
        message.contract(),
        message.dtype(),
        message.count(),
        message.root(),
        message.chunkBytes(),
        message.onDevice(),
        message.refusal(),
        message.refusalText());
  }
}
