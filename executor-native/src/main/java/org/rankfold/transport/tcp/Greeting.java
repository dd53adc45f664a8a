// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import org.rankfold.wire.AcceptorHandshake;
import org.rankfold.wire.Hello;
import org.rankfold.wire.RefusedBytes;
import org.rankfold.wire.WireRefusal;

/**
 * A stranger at the listener's door: reads one message of a known size at a time, answers, and ends
 * as a link of a seat or closed. Owned by the listener's thread.
 */
final class Greeting {
  private final SocketChannel channel;
  private final TcpListener listener;
  private final SecureRandom random;
  private final long startNs;
  private ByteBuffer in = ByteBuffer.allocate(Hello.BYTES);
  private ByteBuffer out = ByteBuffer.allocate(0);
  private Hello hello;
  private Seat seat;
  private AcceptorHandshake handshake;
  private boolean isDecided;
  private boolean isWelcome;

  Greeting(SocketChannel channel, TcpListener listener, SecureRandom random, long startNs) {
    this.channel = channel;
    this.listener = listener;
    this.random = random;
    this.startNs = startNs;
  }

  /** Goes on as far as it can; false when this greeting is over. */
  boolean proceed(long nowNs, long timeoutNs) {
    try {
      if (nowNs - startNs > timeoutNs && !isDecided) {
        refuse(WireRefusal.TOO_SLOW);
      }
      while (true) {
        if (out.hasRemaining()) {
          channel.write(out);
          if (out.hasRemaining() && nowNs - startNs <= 2 * timeoutNs) {
            return true;
          }
        }
        if (isDecided) {
          end();
          return false;
        }
        int n = channel.read(in);
        if (n < 0) {
          listener.count(WireRefusal.BAD_LENGTH);
          Sockets.close(channel);
          return false;
        }
        if (in.hasRemaining()) {
          return true;
        }
        onMessage(in.array().clone());
      }
    } catch (IOException e) {
      close();
      return false;
    }
  }

  private void end() throws IOException {
    if (isWelcome) {
      listener.welcome(
          seat,
          new MeshLink(hello.from(), (InetSocketAddress) channel.getRemoteAddress(), channel));
    } else {
      Sockets.close(channel);
    }
  }

  private void onMessage(byte[] message) {
    try {
      if (hello == null) {
        Hello said = Hello.read(message);
        seat = listener.seatFor(said);
        hello = said;
        byte[] nonce = new byte[Hello.NONCE_BYTES];
        random.nextBytes(nonce);
        handshake = new AcceptorHandshake(seat.secret(), seat.terms(), hello, nonce);
        out = ByteBuffer.wrap(handshake.challenge());
        in = ByteBuffer.allocate(AcceptorHandshake.PROOF_BYTES);
        return;
      }
      handshake.onProof(message);
      if (!seat.take(hello.from())) {
        throw new RefusedBytes(WireRefusal.DUPLICATE, "task=%d is connected already", hello.from());
      }
      isDecided = true;
      isWelcome = true;
      out = ByteBuffer.wrap(AcceptorHandshake.verdict(null));
    } catch (RefusedBytes e) {
      refuse(e.refusal());
    }
  }

  private void refuse(WireRefusal refusal) {
    listener.count(refusal);
    isDecided = true;
    out = ByteBuffer.wrap(AcceptorHandshake.verdict(refusal));
  }

  /** Ends it without a link. */
  void close() {
    if (isWelcome) {
      seat.giveBack(hello.from());
    }
    Sockets.close(channel);
  }
}
