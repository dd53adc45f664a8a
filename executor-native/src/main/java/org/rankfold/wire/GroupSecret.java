// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.rankfold.InternalApi;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * A group's id and the secret that its tasks share. The secret leaves this object only as a key of
 * HMAC-SHA256 or as what HKDF derives from it, and is part of no text.
 */
@InternalApi
public final class GroupSecret {
  /** The size of an id. */
  public static final int ID_BYTES = 32;

  /** The fewest bytes of a secret. */
  public static final int LEAST_BYTES = 16;

  private final String epoch;
  private final byte[] id;
  private final SecretKeySpec key;

  /**
   * The credentials of a group.
   *
   * @param epoch the group's id as text, the same for its tasks and for no other group
   * @param secret at least 16 bytes of randomness; copied
   * @throws CollectiveException INVALID_ARGUMENT when the secret is shorter
   */
  public GroupSecret(String epoch, byte[] secret) {
    if (secret.length < LEAST_BYTES) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "secret of %d bytes < %d of group %s",
          secret.length,
          LEAST_BYTES,
          epoch);
    }
    this.epoch = epoch;
    this.id = sha256(epoch.getBytes(StandardCharsets.UTF_8));
    this.key = new SecretKeySpec(secret, "HmacSHA256");
  }

  /**
   * The group's id as text.
   *
   * @return as given
   */
  public String epoch() {
    return epoch;
  }

  /**
   * The group's id on the wire: SHA-256 of its text.
   *
   * @return 64 hexadecimal digits
   */
  public String idHex() {
    return HexFormat.of().formatHex(id);
  }

  /**
   * What frames carry of the id: its first eight bytes, little-endian.
   *
   * @return 64 bits
   */
  public long frameEpoch() {
    return Long.reverseBytes(ByteBuffer.wrap(id).getLong());
  }

  /**
   * The group, without its secret.
   *
   * @return for example {@code group app-1/2/0/9f}
   */
  @Override
  public String toString() {
    return "group " + epoch;
  }

  byte[] id() {
    return id;
  }

  /** HMAC-SHA256 of a role and a transcript. */
  byte[] mac(String role, byte[]... transcript) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(key);
      mac.update(role.getBytes(StandardCharsets.US_ASCII));
      for (byte[] part : transcript) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has HmacSHA256", e);
    }
  }

  /** HKDF's first step, salted with a transcript. */
  byte[] extract(byte[] transcript) {
    return Hkdf.extract(transcript, key.getEncoded());
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
