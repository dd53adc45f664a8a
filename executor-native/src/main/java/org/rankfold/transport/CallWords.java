// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

import org.rankfold.InternalApi;
import org.rankfold.wire.CallMessage;

/** Between the engine's headers and the bytes that carry them; kinds are never renumbered. */
@InternalApi
public final class CallWords {
  private static final CallKind[] KINDS = {
    null,
    CallKind.ALL_REDUCE,
    CallKind.REDUCE_SCATTER,
    CallKind.ALL_GATHER,
    CallKind.BROADCAST,
    CallKind.BARRIER
  };

  private CallWords() {}

  private static int code(CallKind kind) {
    return switch (kind) {
      case ALL_REDUCE -> 1;
      case REDUCE_SCATTER -> 2;
      case ALL_GATHER -> 3;
      case BROADCAST -> 4;
      case BARRIER -> 5;
    };
  }

  /**
   * What travels of a header; its number travels apart.
   *
   * @param header a call's
   * @return the message
   */
  public static CallMessage message(CallHeader header) {
    return new CallMessage(
        code(header.kind()),
        header.contract(),
        header.dtype(),
        header.count(),
        header.root(),
        header.chunkBytes(),
        header.memory(),
        header.refusal(),
        header.refusalText());
  }

  /**
   * The header that a message was made of.
   *
   * @param number the call's
   * @param message as {@link #message} made it
   * @return the header
   */
  public static CallHeader header(long number, CallMessage message) {
    return new CallHeader(
        number,
        KINDS[message.kind()],
        message.contract(),
        message.dtype(),
        message.count(),
        message.root(),
        message.chunkBytes(),
        message.memory(),
        message.refusal(),
        message.refusalText());
  }
}
