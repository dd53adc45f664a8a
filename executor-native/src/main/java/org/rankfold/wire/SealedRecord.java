// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import org.rankfold.InternalApi;

/**
 * The layout of what a sealed connection carries, little-endian:
 *
 * <pre>
 *   0 magic "RKS1"
 *   4 length of what follows the header: 17 to {@link #MOST_PLAIN_BYTES} + 16
 *   8 number of the record, from 0
 *  16 frames, encrypted, and the tag (16)
 * </pre>
 *
 * The header is authenticated. Frames begin and end anywhere in records.
 */
@InternalApi
public final class SealedRecord {
  /** The size of a header. */
  public static final int HEADER_BYTES = 16;

  /** The most bytes of frames in a record. */
  public static final int MOST_PLAIN_BYTES = (32 << 10) - HEADER_BYTES - RecordCipher.TAG_BYTES;

  /** The size of the largest record. */
  public static final int MOST_BYTES = HEADER_BYTES + MOST_PLAIN_BYTES + RecordCipher.TAG_BYTES;

  static final int MAGIC = 'R' | 'K' << 8 | 'S' << 16 | '1' << 24;
  static final int LENGTH_OFFSET = 4;
  static final int NUMBER_OFFSET = 8;

  private SealedRecord() {}
}
