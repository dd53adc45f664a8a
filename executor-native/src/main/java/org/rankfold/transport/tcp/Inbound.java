// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.view.DirectView;
import org.rankfold.view.View;
import org.rankfold.wire.AbortMessage;
import org.rankfold.wire.CallMessage;
import org.rankfold.wire.FrameDecoder;
import org.rankfold.wire.FrameHeader;
import org.rankfold.wire.RefusedBytes;
import org.rankfold.wire.WireRefusal;

/**
 * Turns one connection's bytes into frames. Headers and short payloads are read together; a long
 * payload is read by the system straight to its place or slot, with the next header behind it.
 * Never holds more than a header, the bytes that came with it and one payload. Owned by who holds
 * the transport's lock.
 */
final class Inbound {
  /** Who is told of frames. */
  interface Receiver {
    /** The place of elements about to come, or null for a slot. */
    View placeOf(DeliveryTag tag);

    /** Elements came: to their place when slot is null. */
    void onData(DeliveryTag tag, View view, ByteBuffer slot) throws RefusedBytes;

    void onCall(long number, CallMessage message) throws RefusedBytes;

    void onAbort(AbortMessage message);

    void onGoodbye();
  }

  private static final int STAGING_BYTES = 16 << 10;
  private static final int READS_A_TURN = 16;

  private final FrameDecoder decoder;
  private final Outbound outbound;
  private final Receiver receiver;
  private final BufferPool pool;
  private final ByteBuffer staging;
  private final ByteBuffer[] scattered = new ByteBuffer[2];

  /** The payload under way: null between frames. */
  private ByteBuffer target;

  /** Where it came from when it is a slot, what it is when it is elements. */
  private ByteBuffer slot;

  private View view;
  private DeliveryTag tag;
  private ByteBuffer control;

  private long readBytes;
  private long elementBytes;
  private long copiedBytes;
  private long landedBytes;

  /** A stream of which some bytes, fewer than a header, were read already. */
  Inbound(
      FrameDecoder decoder,
      Outbound outbound,
      Receiver receiver,
      BufferPool pool,
      ByteBuffer early) {
    this.decoder = decoder;
    this.outbound = outbound;
    this.receiver = receiver;
    this.pool = pool;
    this.readBytes = early.remaining();
    this.staging = pool.take(STAGING_BYTES).put(early);
  }

  /** Reads what has arrived; returns how many bytes, or -1 at the end of the stream. */
  long read(ScatteringByteChannel channel) throws IOException, RefusedBytes {
    long total = 0;
    for (int turn = 0; turn < READS_A_TURN; turn++) {
      long wanted;
      long n;
      if (target == null) {
        wanted = staging.remaining();
        n = channel.read(staging);
      } else {
        // Parsing left nothing in staging while a payload is incomplete.
        staging.clear().limit(FrameHeader.BYTES);
        scattered[0] = target;
        scattered[1] = staging;
        wanted = (long) target.remaining() + staging.remaining();
        n = channel.read(scattered, 0, 2);
      }
      if (n < 0) {
        return total > 0 ? total : -1;
      }
      total += n;
      readBytes += n;
      parse();
      if (n < wanted) {
        break;
      }
    }
    return total;
  }

  private void parse() throws RefusedBytes {
    staging.flip();
    while (true) {
      if (target == null) {
        if (staging.remaining() < FrameHeader.BYTES) {
          break;
        }
        decoder.accept(staging, staging.position(), outbound.dataSent());
        staging.position(staging.position() + FrameHeader.BYTES);
        outbound.onReleased(decoder.released());
        begin();
      }
      copyStaged();
      if (target.hasRemaining()) {
        break;
      }
      finish();
    }
    staging.compact();
  }

  private void begin() {
    int length = decoder.length();
    switch (decoder.type()) {
      case DATA -> {
        tag =
            new DeliveryTag(
                decoder.call(), WireWords.of(decoder.phase()), decoder.index(), decoder.chunk());
        View place = receiver.placeOf(tag);
        if (place instanceof DirectView direct
            && direct.byteCount() == length
            && direct.dtype() == decoder.dtype()) {
          view = direct;
          target = direct.window();
          landedBytes += length;
        } else {
          slot = pool.take(length);
          view = View.of(slot, decoder.dtype());
          target = slot.duplicate();
        }
        elementBytes += length;
      }
      case CALL, ABORT -> {
        if (control == null) {
          control = ByteBuffer.allocate(Math.max(CallMessage.MOST_BYTES, AbortMessage.MOST_BYTES));
        }
        target = control.clear().limit(length);
      }
      default -> target = staging.slice(0, 0);
    }
  }

  private void copyStaged() {
    int n = Math.min(target.remaining(), staging.remaining());
    if (n > 0) {
      target.put(target.position(), staging, staging.position(), n);
      target.position(target.position() + n);
      staging.position(staging.position() + n);
      if (view != null) {
        copiedBytes += n;
      }
    }
  }

  private void finish() throws RefusedBytes {
    ByteBuffer payload = target;
    target = null;
    switch (decoder.type()) {
      case DATA -> {
        View arrived = view;
        ByteBuffer arrivedSlot = slot;
        view = null;
        slot = null;
        receiver.onData(tag, arrived, arrivedSlot);
      }
      case CALL -> {
        payload.flip();
        long hash = CallMessage.hash(payload, 0);
        if (hash != decoder.contract()) {
          throw new RefusedBytes(
              WireRefusal.CONTRACT_MISMATCH,
              "header of call=%d has hash=%x != %x",
              decoder.call(),
              hash,
              decoder.contract());
        }
        receiver.onCall(decoder.call(), CallMessage.read(payload));
      }
      case ABORT -> receiver.onAbort(AbortMessage.read(payload.flip()));
      case GOODBYE -> receiver.onGoodbye();
      case PULSE -> {}
    }
  }

  /** Whether the payload under way is being written to memory that is not the transport's. */
  boolean isLanding() {
    return target != null && view != null && slot == null;
  }

  /** Gives the buffers back; the connection is gone. */
  void drop() {
    if (slot != null) {
      pool.give(slot);
    }
    slot = null;
    view = null;
    target = null;
    pool.give(staging);
  }

  long readBytes() {
    return readBytes;
  }

  long elementBytes() {
    return elementBytes;
  }

  long copiedBytes() {
    return copiedBytes;
  }

  long landedBytes() {
    return landedBytes;
  }
}
