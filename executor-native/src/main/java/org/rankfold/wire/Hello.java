// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.rankfold.InternalApi;

/**
 * The first message of a connection, from the dialer; little-endian, {@link #BYTES} bytes:
 *
 * <pre>
 *   0 magic "RKH1", 4 version (1 byte), 5 kind = 1, 6 zero (2)
 *   8 group id (32)
 *  40 dialing task, 44 task to be reached
 *  48 world, 52 tasks, 56 contract version, 60 chunk in bytes
 *  64 nonce (32)
 *  96 seal: 0 none, 1 AES-256-GCM
 * </pre>
 *
 * Nothing in it is to be believed before the handshake has ended.
 */
@InternalApi
public final class Hello {
  /** The size of the message. */
  public static final int BYTES = 100;

  /** The size of a nonce. */
  public static final int NONCE_BYTES = 32;

  private static final int ID_OFFSET = 8;
  private static final int NONCE_OFFSET = 64;
  private static final int SEAL_OFFSET = 96;
  private static final int SEALED = 1;

  private final byte[] bytes;
  private final int from;
  private final int to;
  private final GroupTerms terms;

  private Hello(byte[] bytes, int from, int to, GroupTerms terms) {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
    this.terms = terms;
  }

  static byte[] write(GroupSecret secret, GroupTerms terms, int from, int to, byte[] nonce) {
    byte[] bytes = Handshake.message(Handshake.HELLO, BYTES);
    ByteBuffer hello = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(ID_OFFSET);
    hello.put(secret.id()).putInt(from).putInt(to);
    hello.putInt(terms.world()).putInt(terms.tasks());
    hello.putInt(terms.contractVersion()).putInt(terms.chunkBytes());
    hello.put(nonce, 0, NONCE_BYTES);
    hello.putInt(terms.isSealed() ? SEALED : 0);
    return bytes;
  }

  /**
   * Reads the message.
   *
   * @param bytes {@link #BYTES} bytes; copied
   * @return what they say
   * @throws RefusedBytes BAD_MAGIC, BAD_VERSION, BAD_TYPE, BAD_FIELD
   */
  public static Hello read(byte[] bytes) throws RefusedBytes {
    Handshake.requireKind(bytes, Handshake.HELLO);
    ByteBuffer hello = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    hello.position(ID_OFFSET + GroupSecret.ID_BYTES);
    int from = hello.getInt();
    int to = hello.getInt();
    int seal = hello.getInt(SEAL_OFFSET);
    GroupTerms terms =
        new GroupTerms(
            hello.getInt(), hello.getInt(), hello.getInt(), hello.getInt(), seal == SEALED);
    if (seal != 0 && seal != SEALED) {
      throw new RefusedBytes(WireRefusal.BAD_FIELD, "seal=%d", seal);
    }
    if (from < 0 || to < 0 || from >= terms.tasks() || to >= terms.tasks()) {
      throw new RefusedBytes(
          WireRefusal.BAD_FIELD, "from=%d to=%d of tasks=%d", from, to, terms.tasks());
    }
    return new Hello(bytes.clone(), from, to, terms);
  }

  /**
   * The group's id.
   *
   * @return 64 hexadecimal digits
   */
  public String groupId() {
    return HexFormat.of().formatHex(bytes, ID_OFFSET, ID_OFFSET + GroupSecret.ID_BYTES);
  }

  /**
   * The dialing task.
   *
   * @return from 0, below the tasks of the terms
   */
  public int from() {
    return from;
  }

  /**
   * The task to be reached.
   *
   * @return from 0, below the tasks of the terms
   */
  public int to() {
    return to;
  }

  /**
   * What the dialer takes the group for.
   *
   * @return the terms
   */
  public GroupTerms terms() {
    return terms;
  }

  /**
   * The dialer's nonce.
   *
   * @return 64 hexadecimal digits
   */
  public String nonce() {
    return HexFormat.of().formatHex(bytes, NONCE_OFFSET, NONCE_OFFSET + NONCE_BYTES);
  }

  /** The message as it came. */
  byte[] bytes() {
    return bytes;
  }
}
