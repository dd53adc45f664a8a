// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallRecord;
import org.rankfold.wire.FrameHeader;
import org.rankfold.wire.FrameType;
import org.rankfold.wire.RefusedBytes;

/**
 * One pair's connection and what its other side has said. Owned by who holds the transport's lock.
 */
final class Connection {
  private final int peer;
  private final InetSocketAddress address;
  private final SocketChannel channel;
  private final FrameStream stream;
  private final long epoch;
  private final int window;
  private final PeerSilence silence;
  private final Outbound outbound;
  private final CallRecord[] records = new CallRecord[2];
  private Inbound inbound;
  private long published;
  private long released;
  private long toldReleased;
  private boolean saidGoodbye;
  private boolean isShut;
  private boolean isWriteBroken;

  /** The connection of a pair that has passed the handshake; the channel is its own from now on. */
  Connection(
      MeshLink link,
      long epoch,
      int window,
      PeerSilence silence,
      Outbound outbound,
      FrameStream stream) {
    this.peer = link.peer();
    this.address = link.address();
    this.channel = link.channel();
    this.stream = stream;
    this.epoch = epoch;
    this.window = window;
    this.silence = silence;
    this.outbound = outbound;
  }

  void receiveWith(Inbound newInbound) {
    inbound = newInbound;
  }

  int peer() {
    return peer;
  }

  InetSocketAddress address() {
    return address;
  }

  PeerSilence silence() {
    return silence;
  }

  Outbound outbound() {
    return outbound;
  }

  Inbound inbound() {
    return inbound;
  }

  /** Slots this side has given back. */
  long released() {
    return released;
  }

  void onPublished(CallHeader header) {
    records[(int) (header.number() & 1)] = new CallRecord(header, List.of(), List.of());
    published = header.number();
  }

  CallRecord record(long call) {
    return published >= call ? records[(int) (call & 1)] : null;
  }

  long published() {
    return published;
  }

  void onGoodbye() {
    saidGoodbye = true;
  }

  boolean hasSaidGoodbye() {
    return saidGoodbye;
  }

  boolean isShut() {
    return isShut;
  }

  /** A slot is free again; the peer is told at the latest when half of its slots are. */
  void giveSlotBack() {
    released++;
    if (!isShut && !saidGoodbye && released - toldReleased >= Math.max(1, window / 2)) {
      say(FrameType.PULSE);
    }
  }

  void say(FrameType type) {
    ByteBuffer frame = outbound.smallBuffer(FrameHeader.BYTES);
    FrameHeader.put(frame, type, epoch, 0, tellReleased());
    outbound.addControl(frame);
  }

  void sayAbort(byte[] message) {
    ByteBuffer frame = ByteBuffer.allocate(FrameHeader.BYTES + message.length);
    FrameHeader.put(frame, FrameType.ABORT, epoch, message.length, tellReleased());
    outbound.addControl(frame.put(message));
  }

  /** The number that the next frame carries. */
  long tellReleased() {
    toldReleased = released;
    return released;
  }

  /**
   * Writes what can be written. A connection that refuses writing may still hold the peer's last
   * words: reading decides what became of it.
   */
  void write(long nowNs) {
    if (isShut || isWriteBroken || isWritten()) {
      return;
    }
    try {
      if (outbound.flush(stream) > 0) {
        silence.onSpoken(nowNs);
      }
    } catch (IOException e) {
      isWriteBroken = true;
    }
  }

  /** Whether the system has everything this side has to say. */
  boolean isWritten() {
    return outbound.isEmpty() && !stream.isWriting();
  }

  /** Reads what has come; false when nothing more will come. */
  boolean read(long nowNs) throws RefusedBytes {
    long n;
    try {
      n = inbound.read(stream);
    } catch (IOException e) {
      return false;
    }
    if (n > 0) {
      silence.onHeard(nowNs);
    }
    return n >= 0 && !(isWriteBroken && n == 0);
  }

  /** Ends this side's half of the stream, once everything is written. */
  void endWriting() throws IOException {
    channel.shutdownOutput();
  }

  /** Reads without looking; false at the end of the stream. */
  boolean discard(ByteBuffer scratch) {
    try {
      int n;
      do {
        n = channel.read(scratch.clear());
      } while (n > 0);
      return n == 0;
    } catch (IOException e) {
      return false;
    }
  }

  boolean isWriteBroken() {
    return isWriteBroken;
  }

  /** Closes the socket and gives the buffers back; idempotent. */
  void shut() {
    if (isShut) {
      return;
    }
    isShut = true;
    outbound.drop();
    inbound.drop();
    stream.drop();
    Sockets.close(channel);
  }
}
