// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** What the messages of the handshake have in common. */
final class Handshake {
  static final byte HELLO = 1;
  static final byte CHALLENGE = 2;
  static final byte PROOF = 3;
  static final byte VERDICT = 4;

  /** A CHALLENGE or a VERDICT: what the dialer reads. */
  static final int REPLY_BYTES = 72;

  static final int PROOF_BYTES = 40;
  static final int PREFIX_BYTES = 8;

  /** The acceptor's half of the proof is made with this name, so that it is no dialer's. */
  static final String ACCEPTOR_ROLE = "rankfold acceptor";

  static final String DIALER_ROLE = "rankfold dialer";

  private static final int MAGIC = 'R' | 'K' << 8 | 'H' << 16 | '1' << 24;

  private Handshake() {}

  /** A message of zeros behind its prefix. */
  static byte[] message(byte kind, int length) {
    byte[] bytes = new byte[length];
    ByteBuffer.wrap(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(MAGIC)
        .put(FrameHeader.VERSION)
        .put(kind);
    return bytes;
  }

  /** A message with its content behind the prefix. */
  static byte[] message(byte kind, int length, byte[] content) {
    byte[] bytes = message(kind, length);
    System.arraycopy(content, 0, bytes, PREFIX_BYTES, content.length);
    return bytes;
  }

  static byte kind(byte[] message) throws RefusedBytes {
    ByteBuffer from = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    int magic = from.getInt();
    if (magic != MAGIC) {
      throw new RefusedBytes(WireRefusal.BAD_MAGIC, "magic=%x != %x", magic, MAGIC);
    }
    byte version = from.get();
    if (version != FrameHeader.VERSION) {
      throw new RefusedBytes(
          WireRefusal.BAD_VERSION, "version=%d != %d", version, FrameHeader.VERSION);
    }
    byte kind = from.get();
    short zero = from.getShort();
    if (zero != 0) {
      throw new RefusedBytes(WireRefusal.BAD_FIELD, "reserved=%d != 0", zero);
    }
    return kind;
  }

  static void requireKind(byte[] message, byte wanted) throws RefusedBytes {
    byte kind = kind(message);
    if (kind != wanted) {
      throw new RefusedBytes(WireRefusal.BAD_TYPE, "kind=%d != %d", kind, wanted);
    }
  }

  static byte[] part(byte[] message, int from, int length) {
    return Arrays.copyOfRange(message, from, from + length);
  }
}
