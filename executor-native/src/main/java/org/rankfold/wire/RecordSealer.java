// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import org.rankfold.InternalApi;

/** Seals one direction of a connection, record by record. Owned by whoever writes it. */
@InternalApi
public final class RecordSealer {
  private final RecordCipher cipher;
  private long number;

  RecordSealer(RecordCipher cipher) {
    this.cipher = cipher;
  }

  /**
   * Seals the next record.
   *
   * @param plain 1 to {@link SealedRecord#MOST_PLAIN_BYTES} bytes; read to its limit
   * @param record receives the record from its position on; {@link SealedRecord#MOST_BYTES} do
   */
  public void seal(ByteBuffer plain, ByteBuffer record) {
    int at = record.position();
    record.order(ByteOrder.LITTLE_ENDIAN);
    record
        .putInt(SealedRecord.MAGIC)
        .putInt(plain.remaining() + RecordCipher.TAG_BYTES)
        .putLong(number);
    ByteBuffer header = record.duplicate().position(at).limit(at + SealedRecord.HEADER_BYTES);
    try {
      cipher.transform(Cipher.ENCRYPT_MODE, number, header, plain, record);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("record " + number + " cannot be sealed", e);
    }
    number++;
  }
}
