// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import org.rankfold.InternalApi;

/**
 * Opens the records of one direction of a connection in order, and refuses any other: changed,
 * repeated, left out, put elsewhere, sealed with another key. No byte of a record is handed out
 * before its tag was found right. Owned by whoever reads the connection.
 */
@InternalApi
public final class RecordOpener {
  private final RecordCipher cipher;
  private long number;

  RecordOpener(RecordCipher cipher) {
    this.cipher = cipher;
  }

  /**
   * How long the record is that begins with a header.
   *
   * @param bytes holds a header at {@code at}; position and limit stay
   * @param at the header's first byte
   * @return the bytes behind the header
   * @throws RefusedBytes BAD_MAGIC, BAD_LENGTH, or OUT_OF_SEQUENCE for another record's number
   */
  public int length(ByteBuffer bytes, int at) throws RefusedBytes {
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    int magic = bytes.getInt(at);
    if (magic != SealedRecord.MAGIC) {
      throw new RefusedBytes(
          WireRefusal.BAD_MAGIC, "magic=%x != %x of a sealed record", magic, SealedRecord.MAGIC);
    }
    int length = bytes.getInt(at + SealedRecord.LENGTH_OFFSET);
    int most = SealedRecord.MOST_PLAIN_BYTES + RecordCipher.TAG_BYTES;
    if (length <= RecordCipher.TAG_BYTES || length > most) {
      throw new RefusedBytes(
          WireRefusal.BAD_LENGTH,
          "record of %d bytes is not from %d to %d",
          length,
          RecordCipher.TAG_BYTES + 1,
          most);
    }
    long given = bytes.getLong(at + SealedRecord.NUMBER_OFFSET);
    if (given != number) {
      throw new RefusedBytes(WireRefusal.OUT_OF_SEQUENCE, "record=%d != %d", given, number);
    }
    return length;
  }

  /**
   * Opens the next record.
   *
   * @param record position and limit enclose a whole record whose header {@link #length} accepted;
   *     read to its end
   * @param plain receives the frames from its position on
   * @throws RefusedBytes BAD_SEAL; nothing of the record may be used then
   */
  public void open(ByteBuffer record, ByteBuffer plain) throws RefusedBytes {
    int body = record.position() + SealedRecord.HEADER_BYTES;
    ByteBuffer header = record.duplicate().limit(body);
    try {
      cipher.transform(Cipher.DECRYPT_MODE, number, header, record.position(body), plain);
    } catch (GeneralSecurityException e) {
      throw new RefusedBytes(
          WireRefusal.BAD_SEAL,
          "record=%d was changed on its way or sealed with another key: %s",
          number,
          e.getMessage());
    }
    number++;
  }
}
