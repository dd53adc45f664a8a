// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.plans;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Writes to a socket what it was given a while before; its end comes as late. */
final class LateStream extends OutputStream {
  /** Bytes and when they arrive; null for the end. */
  private record Parcel(long dueNs, ByteBuffer bytes) {}

  private final Socket socket;
  private final long latencyNs;
  private final BlockingQueue<Parcel> parcels = new LinkedBlockingQueue<>();

  /** Starts the thread that delivers. */
  LateStream(Socket socket, int latencyMs) {
    this.socket = socket;
    this.latencyNs = TimeUnit.MILLISECONDS.toNanos(latencyMs);
    Thread thread = new Thread(this::deliver, "late");
    thread.setDaemon(true);
    thread.start();
  }

  private void deliver() {
    try {
      OutputStream out = socket.getOutputStream();
      while (true) {
        Parcel parcel = parcels.take();
        TimeUnit.NANOSECONDS.sleep(parcel.dueNs() - System.nanoTime());
        if (parcel.bytes() == null) {
          socket.shutdownOutput();
          return;
        }
        out.write(parcel.bytes().array());
      }
    } catch (IOException e) {
      // Both sides are told by the relay of the other direction.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void write(int value) {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    byte[] copy = new byte[length];
    System.arraycopy(bytes, offset, copy, 0, length);
    parcels.add(new Parcel(System.nanoTime() + latencyNs, ByteBuffer.wrap(copy)));
  }

  @Override
  public void close() {
    parcels.add(new Parcel(System.nanoTime() + latencyNs, null));
  }
}
