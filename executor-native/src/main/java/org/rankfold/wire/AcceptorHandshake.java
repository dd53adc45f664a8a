// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import org.rankfold.InternalApi;

/**
 * The acceptor's side, once the {@link Hello} has named a group that is open here: sends {@link
 * #challenge()}, reads the PROOF, sends a verdict.
 */
@InternalApi
public final class AcceptorHandshake {
  /** The size of the message that follows the challenge. */
  public static final int PROOF_BYTES = Handshake.PROOF_BYTES;

  private final GroupSecret secret;
  private final GroupTerms terms;
  private final Hello hello;
  private final byte[] challenge;

  /**
   * A side that has read a greeting.
   *
   * @param secret the group's
   * @param terms what this task takes the group for
   * @param hello the greeting
   * @param nonce 32 random bytes, never used before
   */
  public AcceptorHandshake(GroupSecret secret, GroupTerms terms, Hello hello, byte[] nonce) {
    this.secret = secret;
    this.terms = terms;
    this.hello = hello;
    this.challenge =
        Handshake.message(Handshake.CHALLENGE, Handshake.PREFIX_BYTES + Hello.NONCE_BYTES, nonce);
  }

  /**
   * The message that proves this side and asks the dialer to do the same.
   *
   * @return its bytes
   */
  public byte[] challenge() {
    byte[] reply = Arrays.copyOf(challenge, Handshake.REPLY_BYTES);
    byte[] mac = secret.mac(Handshake.ACCEPTOR_ROLE, hello.bytes(), challenge);
    System.arraycopy(mac, 0, reply, challenge.length, mac.length);
    return reply;
  }

  /**
   * Takes the PROOF.
   *
   * @param proof {@link #PROOF_BYTES} bytes
   * @throws RefusedBytes WRONG_SECRET, or TERMS_DIFFER when the dialer is of the group but takes it
   *     for another
   */
  public void onProof(byte[] proof) throws RefusedBytes {
    Handshake.requireKind(proof, Handshake.PROOF);
    byte[] mac = Handshake.part(proof, Handshake.PREFIX_BYTES, GroupSecret.ID_BYTES);
    byte[] wanted = secret.mac(Handshake.DIALER_ROLE, hello.bytes(), challenge);
    if (!MessageDigest.isEqual(mac, wanted)) {
      throw new RefusedBytes(
          WireRefusal.WRONG_SECRET, "task=%d does not know the secret of the group", hello.from());
    }
    if (!hello.terms().equals(terms)) {
      throw new RefusedBytes(
          WireRefusal.TERMS_DIFFER, "task=%d %s != %s", hello.from(), hello.terms(), terms);
    }
  }

  /**
   * This side's keys, once the proof was taken.
   *
   * @return keys of this connection only, or null when the terms ask for none
   */
  public SealKeys sealKeys() {
    return !terms.isSealed() ? null : SealKeys.of(secret, hello.bytes(), challenge, false);
  }

  /**
   * The last message.
   *
   * @param refusal why the dialer is refused, or null to welcome it
   * @return its bytes
   */
  public static byte[] verdict(WireRefusal refusal) {
    byte[] bytes = Handshake.message(Handshake.VERDICT, Handshake.REPLY_BYTES);
    ByteBuffer.wrap(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(Handshake.PREFIX_BYTES, refusal == null ? 0 : refusal.number());
    return bytes;
  }
}
