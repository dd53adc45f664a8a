// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Frames as they are. */
record PlainStream(SocketChannel channel) implements FrameStream {
  @Override
  public long write(ByteBuffer[] frames, int offset, int length) throws IOException {
    return length == 1 ? channel.write(frames[offset]) : channel.write(frames, offset, length);
  }

  @Override
  public boolean isWriting() {
    return false;
  }

  @Override
  public long read(ByteBuffer[] to, int offset, int length) throws IOException {
    return length == 1 ? channel.read(to[offset]) : channel.read(to, offset, length);
  }

  @Override
  public void drop() {}
}
