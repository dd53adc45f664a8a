// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.HexFormat;
import org.rankfold.wire.DialerHandshake;
import org.rankfold.wire.RefusedBytes;
import org.rankfold.wire.WireRefusal;

/**
 * One peer being dialed, again and again until it answers or refuses for good. Never blocks; owned
 * by the thread that opens the group.
 */
final class Dial {
  private static final long RETRY_NS = 10_000_000;

  private final MeshJoin join;
  private final int peer;
  private final InetSocketAddress address;
  private SocketChannel channel;
  private DialerHandshake handshake;
  private ByteBuffer out;
  private ByteBuffer in;
  private boolean isConnected;
  private long retryNs;
  private String lastReason = "no answer yet";
  private boolean isRefused;

  Dial(MeshJoin join, int peer, InetSocketAddress address, long nowNs) {
    this.join = join;
    this.peer = peer;
    this.address = address;
    this.retryNs = nowNs;
  }

  int peer() {
    return peer;
  }

  /** Why the pair is not connected, for messages. */
  String lastReason() {
    return lastReason;
  }

  /** Whether trying again is of no use. */
  boolean isRefused() {
    return isRefused;
  }

  /** Goes on as far as it can; the link once there is one, else null. */
  MeshLink proceed(long nowNs) {
    try {
      if (channel == null) {
        if (nowNs - retryNs < 0) {
          return null;
        }
        start();
      }
      if (!isConnected && !channel.finishConnect()) {
        return null;
      }
      isConnected = true;
      return talk();
    } catch (RefusedBytes e) {
      isRefused = !isPassing(e.refusal());
      again(nowNs, e.getMessage());
    } catch (IOException | RuntimeException e) {
      again(nowNs, e.toString());
    }
    return null;
  }

  /** A group may open yet, room be made yet, the end of an earlier attempt be heard of yet. */
  private static boolean isPassing(WireRefusal refusal) {
    return refusal == WireRefusal.UNKNOWN_GROUP
        || refusal == WireRefusal.BUSY
        || refusal == WireRefusal.DUPLICATE;
  }

  private void start() throws IOException {
    byte[] nonce = join.listener().nonce();
    if (!address.equals(join.listener().address())) {
      join.listener().onDialed(HexFormat.of().formatHex(nonce));
    }
    handshake = new DialerHandshake(join.secret(), join.terms(), join.task(), peer, nonce);
    out = ByteBuffer.wrap(handshake.hello());
    in = ByteBuffer.allocate(DialerHandshake.REPLY_BYTES);
    isConnected = false;
    channel = SocketChannel.open();
    Sockets.setUp(channel);
    isConnected = channel.connect(address);
  }

  private MeshLink talk() throws IOException, RefusedBytes {
    while (true) {
      if (out.hasRemaining()) {
        channel.write(out);
        if (out.hasRemaining()) {
          return null;
        }
      }
      if (channel.read(in) < 0) {
        throw new IOException("closed in the handshake");
      }
      if (in.hasRemaining()) {
        return null;
      }
      byte[] proof = handshake.onReply(in.array().clone());
      if (proof == null) {
        MeshLink link = new MeshLink(peer, address, channel);
        channel = null;
        return link;
      }
      out = ByteBuffer.wrap(proof);
      in = ByteBuffer.allocate(DialerHandshake.REPLY_BYTES);
    }
  }

  private void again(long nowNs, String reason) {
    lastReason = reason;
    retryNs = nowNs + RETRY_NS;
    close();
  }

  void close() {
    if (channel != null) {
      Sockets.close(channel);
      channel = null;
    }
  }
}
