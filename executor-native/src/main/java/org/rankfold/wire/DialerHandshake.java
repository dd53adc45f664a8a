// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import org.rankfold.InternalApi;

/**
 * The dialer's side: sends {@link #hello()}, answers the CHALLENGE with a PROOF, reads the VERDICT.
 * Every reply is {@link #REPLY_BYTES} bytes long.
 */
@InternalApi
public final class DialerHandshake {
  /** The size of every reply. */
  public static final int REPLY_BYTES = Handshake.REPLY_BYTES;

  private final GroupSecret secret;
  private final byte[] nonce;
  private final byte[] hello;
  private final GroupTerms terms;
  private boolean proved;
  private byte[] challenged;

  /**
   * A side that has said nothing yet.
   *
   * @param secret the group's
   * @param terms what this task takes the group for
   * @param from this task
   * @param to the task to be reached
   * @param nonce 32 random bytes, never used before
   */
  public DialerHandshake(GroupSecret secret, GroupTerms terms, int from, int to, byte[] nonce) {
    this.secret = secret;
    this.terms = terms;
    this.nonce = nonce.clone();
    this.hello = Hello.write(secret, terms, from, to, nonce);
  }

  /**
   * The first message.
   *
   * @return its bytes
   */
  public byte[] hello() {
    return hello.clone();
  }

  /**
   * Takes a reply.
   *
   * @param reply {@link #REPLY_BYTES} bytes
   * @return the PROOF to send, or null when the peer has welcomed this side and frames follow
   * @throws RefusedBytes when the peer is not who it should be, or with the peer's own reason
   */
  public byte[] onReply(byte[] reply) throws RefusedBytes {
    byte kind = Handshake.kind(reply);
    if (kind == Handshake.VERDICT) {
      return onVerdict(reply);
    }
    if (kind != Handshake.CHALLENGE || proved) {
      throw new RefusedBytes(WireRefusal.BAD_TYPE, "kind=%d as a reply", kind);
    }
    byte[] peerNonce = Handshake.part(reply, Handshake.PREFIX_BYTES, Hello.NONCE_BYTES);
    if (Arrays.equals(peerNonce, nonce)) {
      throw new RefusedBytes(WireRefusal.REFLECTION, "the challenge is this side's own nonce");
    }
    byte[] challenge = Handshake.part(reply, 0, Handshake.PREFIX_BYTES + Hello.NONCE_BYTES);
    byte[] mac = Handshake.part(reply, challenge.length, GroupSecret.ID_BYTES);
    if (!MessageDigest.isEqual(mac, secret.mac(Handshake.ACCEPTOR_ROLE, hello, challenge))) {
      throw new RefusedBytes(
          WireRefusal.WRONG_SECRET, "the peer does not know the secret of the group");
    }
    proved = true;
    challenged = challenge;
    return Handshake.message(
        Handshake.PROOF,
        Handshake.PROOF_BYTES,
        secret.mac(Handshake.DIALER_ROLE, hello, challenge));
  }

  /**
   * This side's keys, once the peer has welcomed it.
   *
   * @return keys of this connection only, or null when the terms ask for none
   */
  public SealKeys sealKeys() {
    return terms.isSealed() ? SealKeys.of(secret, hello, challenged, true) : null;
  }

  private byte[] onVerdict(byte[] reply) throws RefusedBytes {
    int number =
        ByteBuffer.wrap(reply).order(ByteOrder.LITTLE_ENDIAN).getInt(Handshake.PREFIX_BYTES);
    if (number == 0 && proved) {
      return null;
    }
    WireRefusal refusal = WireRefusal.ofNumber(number);
    if (refusal == null) {
      throw new RefusedBytes(WireRefusal.BAD_FIELD, "verdict=%d", number);
    }
    throw new RefusedBytes(refusal, "says the peer");
  }
}
