// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import org.rankfold.wire.SealKeys;

/** A connection that has passed the handshake; keys are null when it is not sealed. */
record MeshLink(int peer, InetSocketAddress address, SocketChannel channel, SealKeys keys) {}
