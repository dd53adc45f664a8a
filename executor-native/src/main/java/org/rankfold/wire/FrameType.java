// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import org.rankfold.InternalApi;

/** What a frame is. */
@InternalApi
public enum FrameType {
  /** A call's header; its payload is a {@link CallMessage}. */
  CALL(1),
  /** A stretch of elements. */
  DATA(2),
  /** A sign of life that also gives slots back; no payload. */
  PULSE(3),
  /** The sender lost the group; its payload is an {@link AbortMessage}. */
  ABORT(4),
  /** The sender leaves in good order and sends nothing more; no payload. */
  GOODBYE(5);

  private static final FrameType[] BY_CODE = {null, CALL, DATA, PULSE, ABORT, GOODBYE};

  private final byte code;

  FrameType(int code) {
    this.code = (byte) code;
  }

  byte code() {
    return code;
  }

  /** The type of a code, or null. */
  static FrameType ofCode(byte code) {
    return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
