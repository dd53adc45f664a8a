// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.plans;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rankfold.wire.Hello;

/**
 * Passes one direction of a connection on, message by message, as {@code docs/spec/wire.md} lays
 * them out.
 */
final class Relay {
  private static final int HELLO_BYTES = Hello.BYTES;
  private static final int HELLO_FROM = 40;
  private static final int PROOF_BYTES = 40;
  private static final int REPLY_BYTES = 72;
  private static final int HEADER_BYTES = 56;
  private static final int TYPE = 5;
  private static final int PHASE = 6;
  private static final int CALL = 16;
  private static final int LENGTH = 40;

  private static final int TYPE_CALL = 1;
  private static final int TYPE_DATA = 2;
  private static final int TYPE_GOODBYE = 5;

  /** Both directions of a connection. */
  static final class Pair {
    private final int acceptorTask;
    private final Socket dialer;
    private final Socket acceptor;
    private final FaultGate.Strike strike;
    private volatile int dialerTask = -1;

    Pair(int acceptorTask, Socket dialer, Socket acceptor, FaultGate.Strike strike) {
      this.acceptorTask = acceptorTask;
      this.dialer = dialer;
      this.acceptor = acceptor;
      this.strike = strike;
    }

    void fromDialer() {
      new Relay(this, dialer, acceptor).run(true);
    }

    void fromAcceptor() {
      new Relay(this, acceptor, dialer).run(false);
    }
  }

  private final Pair pair;
  private final Socket from;
  private final Socket to;
  private boolean hasVanished;
  private LateStream ending;

  private Relay(Pair pair, Socket from, Socket to) {
    this.pair = pair;
    this.from = from;
    this.to = to;
  }

  private void run(boolean isDialers) {
    try {
      DataInputStream in = new DataInputStream(from.getInputStream());
      OutputStream out = pair.strike.latencyMs() == 0 ? to.getOutputStream() : late(to);
      if (isDialers) {
        byte[] hello = read(in, HELLO_BYTES);
        pair.dialerTask = little(hello).getInt(HELLO_FROM);
        pass(out, hello, hello.length, pair.dialerTask, FaultPlan.Phase.HELLO, 0);
        out.write(hasVanished ? new byte[0] : read(in, PROOF_BYTES));
      } else {
        out.write(read(in, REPLY_BYTES));
        out.write(read(in, REPLY_BYTES));
      }
      int sender = isDialers ? pair.dialerTask : pair.acceptorTask;
      while (true) {
        frame(in, out, sender);
      }
    } catch (EOFException e) {
      endHalf();
    } catch (IOException e) {
      reset();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** As a long line would: what is written arrives later, however much of it is on the way. */
  private OutputStream late(Socket socket) throws IOException {
    LateStream stream = new LateStream(socket, pair.strike.latencyMs());
    ending = stream;
    return stream;
  }

  private void frame(DataInputStream in, OutputStream out, int sender)
      throws IOException, InterruptedException {
    byte[] header = read(in, HEADER_BYTES);
    int length = little(header).getInt(LENGTH);
    byte[] message = new byte[HEADER_BYTES + length];
    System.arraycopy(header, 0, message, 0, HEADER_BYTES);
    in.readFully(message, HEADER_BYTES, length);
    FaultPlan.Phase phase =
        switch (header[TYPE]) {
          case TYPE_CALL -> FaultPlan.Phase.CALL;
          case TYPE_DATA -> header[PHASE] == 2 ? FaultPlan.Phase.RESULT : FaultPlan.Phase.ADDEND;
          case TYPE_GOODBYE -> FaultPlan.Phase.GOODBYE;
          default -> null;
        };
    pass(out, message, HEADER_BYTES, sender, phase, little(header).getLong(CALL));
  }

  private void pass(
      OutputStream out,
      byte[] message,
      int headerBytes,
      int sender,
      FaultPlan.Phase phase,
      long call)
      throws IOException, InterruptedException {
    FaultPlan.Kind kind = phase == null ? null : pair.strike.on(sender, phase, call);
    if (kind == FaultPlan.Kind.CUT) {
      throw new IOException("cut");
    } else if (kind == FaultPlan.Kind.DROP) {
      hasVanished = true;
    } else if (kind == FaultPlan.Kind.CORRUPT) {
      int bit = pair.strike.plan().bit() % (8 * headerBytes);
      message[bit / 8] ^= (byte) (1 << bit % 8);
    } else if (kind == FaultPlan.Kind.DELAY) {
      Thread.sleep(pair.strike.plan().delayMs());
    }
    if (!hasVanished) {
      out.write(message);
    }
  }

  private static byte[] read(DataInputStream in, int count) throws IOException {
    byte[] bytes = new byte[count];
    in.readFully(bytes);
    return bytes;
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** What vanishes has no end either. */
  private void endHalf() {
    try {
      if (ending != null) {
        ending.close();
      } else if (!hasVanished) {
        to.shutdownOutput();
      }
    } catch (IOException e) {
      reset();
    }
  }

  private void reset() {
    try {
      from.setSoLinger(true, 0);
      to.setSoLinger(true, 0);
      from.close();
      to.close();
    } catch (IOException e) {
      // Closed before.
    }
  }
}
