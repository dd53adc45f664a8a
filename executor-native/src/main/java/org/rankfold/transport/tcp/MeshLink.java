// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/** A connection that has passed the handshake. */
record MeshLink(int peer, InetSocketAddress address, SocketChannel channel) {}
