// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.rankfold.wire.RecordOpener;
import org.rankfold.wire.RecordSealer;
import org.rankfold.wire.RefusedBytes;
import org.rankfold.wire.SealKeys;
import org.rankfold.wire.SealedRecord;

/**
 * Frames in sealed records. Costs a copy each way, and four buffers of a record's size a
 * connection. Owned by who holds the transport's lock.
 */
final class SealedStream implements FrameStream {
  private final SocketChannel channel;
  private final RecordSealer sealer;
  private final RecordOpener opener;
  private final BufferPool pool;

  /** Frames to be sealed; empty between writes. */
  private final ByteBuffer plainOut;

  /** A record on its way out: from position to limit. */
  private final ByteBuffer sealedOut;

  /** The start of a record that is coming in, up to position. */
  private final ByteBuffer sealedIn;

  /** Frames of the last record, from position to limit. */
  private final ByteBuffer plainIn;

  private boolean isDropped;

  /** A stream of which some bytes, fewer than a header, were read already. */
  SealedStream(SocketChannel channel, SealKeys keys, ByteBuffer early, BufferPool pool) {
    this.channel = channel;
    this.sealer = keys.sealer();
    this.opener = keys.opener();
    this.pool = pool;
    this.plainOut = pool.take(SealedRecord.MOST_PLAIN_BYTES);
    this.sealedOut = pool.take(SealedRecord.MOST_BYTES).limit(0);
    this.sealedIn = pool.take(SealedRecord.MOST_BYTES).put(early);
    this.plainIn = pool.take(SealedRecord.MOST_PLAIN_BYTES).limit(0);
  }

  @Override
  public long write(ByteBuffer[] frames, int offset, int length) throws IOException {
    long total = 0;
    while (true) {
      if (sealedOut.hasRemaining()) {
        channel.write(sealedOut);
        if (sealedOut.hasRemaining()) {
          return total;
        }
      }
      plainOut.clear().limit(SealedRecord.MOST_PLAIN_BYTES);
      for (int i = offset; i < offset + length && plainOut.hasRemaining(); i++) {
        move(frames[i], plainOut);
      }
      if (plainOut.position() == 0) {
        return total;
      }
      total += plainOut.position();
      sealer.seal(plainOut.flip(), sealedOut.clear());
      sealedOut.flip();
    }
  }

  @Override
  public boolean isWriting() {
    return sealedOut.hasRemaining();
  }

  @Override
  public long read(ByteBuffer[] to, int offset, int length) throws IOException, RefusedBytes {
    long total = 0;
    while (true) {
      for (int i = offset; i < offset + length && plainIn.hasRemaining(); i++) {
        total += move(plainIn, to[i]);
      }
      if (plainIn.hasRemaining()) {
        return total;
      }
      int n = fill(SealedRecord.HEADER_BYTES);
      if (n >= 0 && sealedIn.position() >= SealedRecord.HEADER_BYTES) {
        int end = SealedRecord.HEADER_BYTES + opener.length(sealedIn, 0);
        n = fill(end);
        if (sealedIn.position() == end) {
          opener.open(sealedIn.flip(), plainIn.clear().limit(SealedRecord.MOST_PLAIN_BYTES));
          plainIn.flip();
          sealedIn.clear();
          continue;
        }
      }
      return n < 0 && total == 0 ? -1 : total;
    }
  }

  /** Reads until so many bytes of the record are there, or no more can be had now. */
  private int fill(int end) throws IOException {
    if (sealedIn.position() >= end) {
      return 0;
    }
    return channel.read(sealedIn.limit(end));
  }

  private static int move(ByteBuffer from, ByteBuffer to) {
    int n = Math.min(from.remaining(), to.remaining());
    if (n > 0) {
      to.put(to.position(), from, from.position(), n);
      from.position(from.position() + n);
      to.position(to.position() + n);
    }
    return n;
  }

  @Override
  public void drop() {
    if (!isDropped) {
      isDropped = true;
      sealedOut.limit(0);
      pool.give(plainOut);
      pool.give(sealedOut);
      pool.give(sealedIn);
      pool.give(plainIn);
    }
  }
}
