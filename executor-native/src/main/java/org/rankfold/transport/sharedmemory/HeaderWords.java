// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallKind;
import org.rankfold.wire.CallMessage;

/** Between the engine's headers and their bytes in a record; never renumbered. */
final class HeaderWords {
  private static final CallKind[] KINDS = {
    null,
    CallKind.ALL_REDUCE,
    CallKind.REDUCE_SCATTER,
    CallKind.ALL_GATHER,
    CallKind.BROADCAST,
    CallKind.BARRIER
  };

  private HeaderWords() {}

  private static int code(CallKind kind) {
    int code = 1;
    while (KINDS[code] != kind) {
      code++;
    }
    return code;
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
