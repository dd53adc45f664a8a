// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A connection that has passed the handshake, until a transport owns it. */
final class MeshLink {
  private final int peer;
  private final InetSocketAddress address;
  private final SocketChannel channel;
  private final ByteBuffer early = ByteBuffer.allocate(1);

  MeshLink(int peer, InetSocketAddress address, SocketChannel channel) {
    this.peer = peer;
    this.address = address;
    this.channel = channel;
  }

  int peer() {
    return peer;
  }

  InetSocketAddress address() {
    return address;
  }

  SocketChannel channel() {
    return channel;
  }

  /**
   * Whether the peer has closed the connection without a word. A byte that this look finds instead
   * is kept as {@link #early}: it is the first of the peer's first frame.
   */
  boolean isDead() {
    try {
      return early.position() == 0 && channel.read(early) < 0;
    } catch (IOException e) {
      return true;
    }
  }

  /** What was read of the peer's frames already, to be read before the channel. */
  ByteBuffer early() {
    return early.duplicate().flip();
  }

  void close() {
    Sockets.close(channel);
  }
}
