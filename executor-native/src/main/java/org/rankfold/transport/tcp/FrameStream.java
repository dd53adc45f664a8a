// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.rankfold.wire.RefusedBytes;

/** What carries one connection's frames, as they are or sealed. Never blocks. */
interface FrameStream {
  /** Takes bytes in order; how many of them need not be kept any more. */
  long write(ByteBuffer[] frames, int offset, int length) throws IOException;

  /** Whether bytes were taken that the system has not; a write without frames goes on with them. */
  boolean isWriting();

  /** Gives bytes in order; how many, or -1 at the end of the stream. */
  long read(ByteBuffer[] to, int offset, int length) throws IOException, RefusedBytes;

  /** Gives the stream's own buffers back; idempotent. */
  void drop();
}
