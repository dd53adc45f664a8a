// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.rankfold.InternalApi;

/**
 * One side's keys of one connection: two directions, two keys, which follow from the group's secret
 * and from both nonces of the handshake, so no two connections share any.
 */
@InternalApi
public final class SealKeys {
  /** AES-256, then the fixed part of the nonces. */
  static final int KEY_BYTES = 32;

  static final int SALT_BYTES = 4;
  private static final String DIALER = "rankfold seal dialer";
  private static final String ACCEPTOR = "rankfold seal acceptor";

  private final byte[] sending;
  private final byte[] receiving;

  private SealKeys(byte[] sending, byte[] receiving) {
    this.sending = sending;
    this.receiving = receiving;
  }

  static SealKeys of(GroupSecret secret, byte[] hello, byte[] challenge, boolean isDialer) {
    byte[] transcript = Arrays.copyOf(hello, hello.length + challenge.length);
    System.arraycopy(challenge, 0, transcript, hello.length, challenge.length);
    byte[] key = secret.extract(transcript);
    byte[] dialers = expand(key, DIALER);
    byte[] acceptors = expand(key, ACCEPTOR);
    Arrays.fill(key, (byte) 0);
    return isDialer ? new SealKeys(dialers, acceptors) : new SealKeys(acceptors, dialers);
  }

  private static byte[] expand(byte[] key, String purpose) {
    return Hkdf.expand(key, purpose.getBytes(StandardCharsets.US_ASCII), KEY_BYTES + SALT_BYTES);
  }

  /**
   * What seals this side's records.
   *
   * @return a sealer that has sealed nothing; make one only, its numbers begin at 0
   */
  public RecordSealer sealer() {
    return new RecordSealer(new RecordCipher(sending));
  }

  /**
   * What opens the peer's records.
   *
   * @return an opener that has opened nothing
   */
  public RecordOpener opener() {
    return new RecordOpener(new RecordCipher(receiving));
  }
}
