// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * AES-256-GCM under the key of one direction of one connection. A record's nonce is the direction's
 * fixed part and the record's number, so it is never used twice.
 */
final class RecordCipher {
  static final int TAG_BYTES = 16;
  private static final int NONCE_BYTES = 12;

  private final SecretKeySpec key;
  private final byte[] nonce = new byte[NONCE_BYTES];
  private final Cipher cipher;

  /** Key and fixed part, one behind the other. */
  RecordCipher(byte[] material) {
    this.key = new SecretKeySpec(material, 0, SealKeys.KEY_BYTES, "AES");
    System.arraycopy(material, SealKeys.KEY_BYTES, nonce, 0, SealKeys.SALT_BYTES);
    try {
      this.cipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has AES/GCM/NoPadding", e);
    }
  }

  /** Encrypts or decrypts all of {@code from}; {@code header} is authenticated with it. */
  void transform(int mode, long number, ByteBuffer header, ByteBuffer from, ByteBuffer to)
      throws GeneralSecurityException {
    ByteBuffer.wrap(nonce).order(ByteOrder.LITTLE_ENDIAN).putLong(SealKeys.SALT_BYTES, number);
    cipher.init(mode, key, new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce));
    cipher.updateAAD(header);
    cipher.doFinal(from, to);
  }
}
