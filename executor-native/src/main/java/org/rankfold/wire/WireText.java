// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Messages of errors on the wire: UTF-8, cut at a character's edge when too long. */
final class WireText {
  static final int MOST_BYTES = 4096;

  private WireText() {}

  static byte[] bytes(String text) {
    byte[] bytes = String.valueOf(text).getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= MOST_BYTES) {
      return bytes;
    }
    int end = MOST_BYTES;
    while ((bytes[end] & 0xc0) == 0x80) {
      end--;
    }
    return Arrays.copyOf(bytes, end);
  }
}
