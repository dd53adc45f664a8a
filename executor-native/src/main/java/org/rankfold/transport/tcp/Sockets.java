// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/** How sockets are set up, named and closed. */
final class Sockets {
  private Sockets() {}

  static void setUp(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
  }

  /** Closes; what a failing close could tell is known already. */
  static void close(Closeable closeable) {
    try {
      closeable.close();
    } catch (IOException e) {
      // The descriptor is gone either way.
    }
  }

  /** For example {@code 10.0.0.7:4000} or {@code [fd00::7]:4000}. */
  static String text(InetSocketAddress address) {
    if (address == null) {
      return "an unknown address";
    }
    String host =
        address.getAddress() == null
            ? address.getHostString()
            : address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }
}
