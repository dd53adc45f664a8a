// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HKDF with HMAC-SHA256 (RFC 5869). */
final class Hkdf {
  private static final String HMAC = "HmacSHA256";

  private Hkdf() {}

  /** A pseudorandom key of 32 bytes from keying material; the salt is not empty. */
  static byte[] extract(byte[] salt, byte[] material) {
    return mac(salt).doFinal(material);
  }

  /** So many bytes, 255 * 32 at most, for one purpose. */
  static byte[] expand(byte[] key, byte[] purpose, int length) {
    byte[] out = new byte[length];
    byte[] block = new byte[0];
    Mac mac = mac(key);
    for (int at = 0, counter = 1; at < length; at += block.length, counter++) {
      mac.update(block);
      mac.update(purpose);
      block = mac.doFinal(new byte[] {(byte) counter});
      System.arraycopy(block, 0, out, at, Math.min(block.length, length - at));
    }
    Arrays.fill(block, (byte) 0);
    return out;
  }

  private static Mac mac(byte[] key) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(key, HMAC));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + HMAC, e);
    }
  }
}
