// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.rankfold.InternalApi;
import org.rankfold.errors.ErrorCode;

/**
 * Why a task lost its group, as the payload of an ABORT frame, little-endian: the error's code in
 * four bytes, then its message in UTF-8.
 *
 * @param code the first cause's code
 * @param text the first cause's message
 */
@InternalApi
public record AbortMessage(ErrorCode code, String text) {
  /** The size without a text. */
  public static final int FIXED_BYTES = 4;

  /** The size with the longest text. */
  public static final int MOST_BYTES = FIXED_BYTES + WireText.MOST_BYTES;

  /**
   * The payload.
   *
   * @return its bytes
   */
  public byte[] bytes() {
    byte[] message = WireText.bytes(text);
    return ByteBuffer.allocate(FIXED_BYTES + message.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(code.number())
        .put(message)
        .array();
  }

  /**
   * Reads a payload.
   *
   * @param from position and limit enclose the payload; at least four bytes; read to its end
   * @return what it says; an unknown code reads as PROTOCOL
   */
  public static AbortMessage read(ByteBuffer from) {
    ErrorCode code = ErrorCode.ofNumber(from.order(ByteOrder.LITTLE_ENDIAN).getInt());
    byte[] message = new byte[from.remaining()];
    from.get(message);
    return new AbortMessage(code, new String(message, StandardCharsets.UTF_8));
  }
}
