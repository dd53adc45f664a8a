// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.nio.ByteBuffer;

/** A frame on its way out: its header and where its payload lies. */
final class OutFrame {
  /** Who the payload belongs to. */
  enum Owner {
    /** The caller: it must not change before it was written. */
    BORROWED,
    /** The pool: it goes back there. */
    POOLED,
    /** Nobody. */
    NONE
  }

  final ByteBuffer header;
  ByteBuffer payload;
  Owner owner;

  OutFrame(ByteBuffer header, ByteBuffer payload, Owner owner) {
    this.header = header;
    this.payload = payload;
    this.owner = owner;
  }

  boolean isStarted() {
    return header.position() > 0;
  }

  boolean isWritten() {
    return !header.hasRemaining() && (payload == null || !payload.hasRemaining());
  }
}
