// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Who stands on the way of one connection, sees all its bytes, and does something to a sealed
 * record of the dialer's.
 */
final class WireMeddler implements AutoCloseable {
  /** What is done to a record. */
  enum Deed {
    NOTHING,
    FLIP_A_BIT,
    REPLAY,
    REORDER
  }

  private static final int HELLO_BYTES = 100;
  private static final int PROOF_BYTES = 40;
  private static final int HEADER_BYTES = 16;
  private static final int VICTIM = 5;

  private final ServerSocket server;
  private final InetSocketAddress target;
  private final boolean isSealed;
  private final Deed deed;
  private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
  private final AtomicReference<Socket> dialer = new AtomicReference<>();
  private final AtomicReference<Socket> acceptor = new AtomicReference<>();

  WireMeddler(InetSocketAddress target, boolean isSealed, Deed deed) throws IOException {
    this.server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    this.target = target;
    this.isSealed = isSealed;
    this.deed = deed;
    daemon(this::stand, "meddler").start();
  }

  InetSocketAddress address() {
    return new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
  }

  /** What the dialer has sent so far. */
  byte[] seen() {
    synchronized (seen) {
      return seen.toByteArray();
    }
  }

  private static Thread daemon(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  private void stand() {
    while (!server.isClosed()) {
      try {
        Socket from = server.accept();
        dialer.set(from);
        Socket to = new Socket(target.getAddress(), target.getPort());
        acceptor.set(to);
        daemon(() -> pass(to, from), "meddler-back").start();
        forward(from.getInputStream(), to.getOutputStream());
        to.shutdownOutput();
      } catch (IOException e) {
        // A dialer tries again while its peer is not there yet.
        closeSockets();
      }
    }
  }

  private static void pass(Socket from, Socket to) {
    try {
      from.getInputStream().transferTo(to.getOutputStream());
      to.shutdownOutput();
    } catch (IOException e) {
      // The other direction ends the same way.
    }
  }

  private void forward(InputStream in, OutputStream out) throws IOException {
    out.write(read(in, HELLO_BYTES));
    out.write(read(in, PROOF_BYTES));
    if (!isSealed) {
      byte[] some = new byte[1 << 16];
      for (int n = in.read(some); n >= 0; n = in.read(some)) {
        synchronized (seen) {
          seen.write(some, 0, n);
        }
        out.write(some, 0, n);
      }
      return;
    }
    for (int record = 0; ; record++) {
      byte[] bytes = record(in);
      if (bytes == null) {
        return;
      }
      if (record != VICTIM || deed == Deed.NOTHING) {
        out.write(bytes);
      } else if (deed == Deed.FLIP_A_BIT) {
        bytes[bytes.length / 2] ^= 16;
        out.write(bytes);
      } else if (deed == Deed.REPLAY) {
        out.write(bytes);
        out.write(bytes);
      } else {
        byte[] next = record(in);
        if (next != null) {
          out.write(next);
        }
        out.write(bytes);
      }
    }
  }

  /** Null at the end of the stream. */
  private byte[] record(InputStream in) throws IOException {
    byte[] header = in.readNBytes(HEADER_BYTES);
    if (header.length < HEADER_BYTES) {
      return null;
    }
    int length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(4);
    ByteBuffer record = ByteBuffer.allocate(HEADER_BYTES + length);
    byte[] bytes = record.put(header).put(read(in, length)).array();
    synchronized (seen) {
      seen.write(bytes);
    }
    return bytes;
  }

  private static byte[] read(InputStream in, int length) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException();
    }
    return bytes;
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      // Closed either way.
    }
    closeSockets();
  }

  private void closeSockets() {
    try {
      for (Socket socket : new Socket[] {dialer.get(), acceptor.get()}) {
        if (socket != null) {
          socket.close();
        }
      }
    } catch (IOException e) {
      // Closed either way.
    }
  }
}
