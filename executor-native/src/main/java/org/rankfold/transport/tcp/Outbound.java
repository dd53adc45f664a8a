// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;

/**
 * What one connection has still to send, in order, and the slots the peer has left. Owned by who
 * holds the transport's lock.
 */
final class Outbound {
  private static final int FRAMES_A_WRITE = 16;
  private static final int SMALL_BYTES = 128;
  private static final int KEPT_SMALL = 32;

  private final BufferPool pool;
  private final int window;
  private final ArrayDeque<OutFrame> queue = new ArrayDeque<>();
  private final ArrayDeque<ByteBuffer> smallBuffers = new ArrayDeque<>();
  private final ByteBuffer[] gathered = new ByteBuffer[2 * FRAMES_A_WRITE];
  private long dataSent;
  private long released;
  private int borrowed;
  private long writtenBytes;

  Outbound(BufferPool pool, int window) {
    this.pool = pool;
    this.window = window;
  }

  /** Whether the peer has a slot for one more DATA. */
  boolean hasSlot() {
    return dataSent - released < window;
  }

  /** The peer has given back so many slots in all. */
  void onReleased(long slots) {
    released = slots;
  }

  long dataSent() {
    return dataSent;
  }

  long writtenBytes() {
    return writtenBytes;
  }

  /** A buffer for a header with a short payload; comes back after the write. */
  ByteBuffer smallBuffer(int bytes) {
    if (bytes > SMALL_BYTES) {
      return ByteBuffer.allocate(bytes);
    }
    ByteBuffer buffer = smallBuffers.poll();
    return buffer == null ? ByteBuffer.allocateDirect(SMALL_BYTES) : buffer.clear();
  }

  /** Queues a frame that carries no elements, its payload in the same buffer. */
  void addControl(ByteBuffer frame) {
    queue.add(new OutFrame(frame.flip(), null, OutFrame.Owner.NONE));
  }

  /** Queues elements; takes one of the peer's slots. */
  void addData(ByteBuffer header, ByteBuffer payload, OutFrame.Owner owner) {
    queue.add(new OutFrame(header.flip(), payload, owner));
    dataSent++;
    if (owner == OutFrame.Owner.BORROWED) {
      borrowed++;
    }
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Whether no source of the caller waits to be written. */
  boolean isFlushed() {
    return borrowed == 0;
  }

  /** Writes what the system takes now; returns how many bytes. */
  long flush(FrameStream stream) throws IOException {
    long total = 0;
    do {
      int count = 0;
      long wanted = 0;
      Iterator<OutFrame> frames = queue.iterator();
      while (frames.hasNext() && count + 2 <= gathered.length) {
        OutFrame frame = frames.next();
        wanted += frame.header.remaining();
        gathered[count++] = frame.header;
        if (frame.payload != null) {
          wanted += frame.payload.remaining();
          gathered[count++] = frame.payload;
        }
      }
      long written = stream.write(gathered, 0, count);
      Arrays.fill(gathered, 0, count, null);
      total += written;
      while (!queue.isEmpty() && queue.peek().isWritten()) {
        retire(queue.remove());
      }
      if (written < wanted) {
        break;
      }
    } while (!queue.isEmpty());
    writtenBytes += total;
    return total;
  }

  private void retire(OutFrame frame) {
    if (frame.header.capacity() == SMALL_BYTES
        && frame.header.isDirect()
        && smallBuffers.size() < KEPT_SMALL) {
      smallBuffers.push(frame.header);
    }
    if (frame.owner == OutFrame.Owner.BORROWED) {
      borrowed--;
    } else if (frame.owner == OutFrame.Owner.POOLED) {
      pool.give(frame.payload);
    }
  }

  /**
   * Lets go of the callers' memory: elements not begun are dropped, those begun are finished from a
   * copy, since the peer counts bytes and what was promised must be what is sent.
   */
  void abandon() {
    Iterator<OutFrame> frames = queue.iterator();
    while (frames.hasNext()) {
      OutFrame frame = frames.next();
      if (frame.owner == OutFrame.Owner.BORROWED) {
        borrowed--;
        if (frame.isStarted()) {
          ByteBuffer copy = pool.take(Math.max(1, frame.payload.remaining()));
          frame.payload = copy.limit(frame.payload.remaining()).put(frame.payload).flip();
          frame.owner = OutFrame.Owner.POOLED;
        } else {
          frame.owner = OutFrame.Owner.NONE;
          frames.remove();
        }
      }
    }
  }

  /** Drops everything; the connection is gone. */
  void drop() {
    for (OutFrame frame : queue) {
      if (frame.owner == OutFrame.Owner.POOLED) {
        pool.give(frame.payload);
      }
    }
    queue.clear();
    borrowed = 0;
  }
}
