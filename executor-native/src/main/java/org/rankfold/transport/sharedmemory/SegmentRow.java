// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.util.Locale;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * What a task tells its peers of its board.
 *
 * @param process where the board's file is open
 * @param fileNumber the file's descriptor there
 * @param byteCount the board's size
 * @param nonce random, also on the board
 */
record SegmentRow(ProcessIdentity process, int fileNumber, long byteCount, long nonce) {
  private static final String FORM = "shm2";
  private static final int FIELDS = 9;

  String text() {
    return String.format(
        Locale.ROOT,
        "%s %d %d %s %s %d %d %d %016x",
        FORM,
        process.pid(),
        process.startTicks(),
        process.bootId(),
        process.pidNamespace(),
        process.user(),
        fileNumber,
        byteCount,
        nonce);
  }

  static SegmentRow parse(String text) {
    String[] fields = text.split(" ", -1);
    if (fields.length != FIELDS || !fields[0].equals(FORM)) {
      throw refused(text, null);
    }
    try {
      return new SegmentRow(
          new ProcessIdentity(
              Long.parseLong(fields[1]),
              Long.parseLong(fields[2]),
              fields[3],
              fields[4],
              Long.parseLong(fields[5])),
          Integer.parseInt(fields[6]),
          Long.parseLong(fields[7]),
          Long.parseUnsignedLong(fields[8], 16));
    } catch (NumberFormatException e) {
      throw refused(text, e);
    }
  }

  private static CollectiveException refused(String text, Exception cause) {
    return new CollectiveException(
        ErrorCode.BOOTSTRAP_FAILED, "row=\"" + text + "\" is no row of a shared segment", cause);
  }
}
