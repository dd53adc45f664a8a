// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rankfold.errors.CollectiveException;
import org.rankfold.wire.AbortMessage;

/**
 * A task's control words. Only the owner writes them; peers map and read them. {@code entered},
 * {@code left} and {@code aborted} are sequentially consistent, so that of a task that enters and
 * one that aborts at least one sees the other; the rest is release and acquire.
 */
final class Board {
  static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** "RNKSHM02", so that another layout is refused. */
  private static final long MAGIC = 0x32304d48534b4e52L;

  private static final int NONCE = 8;
  private static final int PUBLISHED = BoardLayout.LINE;
  private static final int ENTERED = 2 * BoardLayout.LINE;
  private static final int LEFT = 3 * BoardLayout.LINE;
  private static final int COMPLETED = 4 * BoardLayout.LINE;
  private static final int CLOSED = 5 * BoardLayout.LINE;
  private static final int ABORTED = 6 * BoardLayout.LINE;
  private static final int GROUP = 7 * BoardLayout.LINE;
  private static final int BEAT = 8 * BoardLayout.LINE;
  private static final int SEGMENT_COUNT = 9 * BoardLayout.LINE;

  private final ByteBuffer bytes;

  Board(ByteBuffer bytes) {
    this.bytes = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  ByteBuffer bytes() {
    return bytes;
  }

  /** Marks the board as the one that a row speaks of. */
  void sign(long nonce) {
    bytes.putLong(NONCE, nonce).putLong(0, MAGIC);
  }

  /** How the board differs from the one signed with a nonce, or null. */
  String difference(long nonce) {
    if (bytes.getLong(0) != MAGIC) {
      return String.format("magic=%016x != %016x", bytes.getLong(0), MAGIC);
    }
    if (bytes.getLong(NONCE) != nonce) {
      return String.format("nonce=%016x != %016x", bytes.getLong(NONCE), nonce);
    }
    return null;
  }

  /** Says that the owner has mapped all peers' boards for a group. */
  void attach(long group) {
    LONGS.setVolatile(bytes, GROUP, group);
  }

  /** The group the owner has attached for, 0 before. */
  long attachedGroup() {
    return (long) LONGS.getVolatile(bytes, GROUP);
  }

  void publish(long call) {
    LONGS.setRelease(bytes, PUBLISHED, call);
  }

  long published() {
    return (long) LONGS.getAcquire(bytes, PUBLISHED);
  }

  void enter(long call) {
    LONGS.setVolatile(bytes, ENTERED, call);
  }

  long entered() {
    return (long) LONGS.getVolatile(bytes, ENTERED);
  }

  void leave(long call, boolean completed) {
    if (completed) {
      LONGS.setRelease(bytes, COMPLETED, call);
    }
    LONGS.setVolatile(bytes, LEFT, call);
  }

  boolean hasLeft(long call) {
    return (long) LONGS.getAcquire(bytes, LEFT) >= call;
  }

  boolean hasCompleted(long call) {
    return (long) LONGS.getAcquire(bytes, COMPLETED) >= call;
  }

  boolean isInside() {
    long left = (long) LONGS.getVolatile(bytes, LEFT);
    return entered() > left;
  }

  void close() {
    LONGS.setVolatile(bytes, CLOSED, 1L);
  }

  boolean isClosed() {
    return (long) LONGS.getVolatile(bytes, CLOSED) != 0;
  }

  /** A sign of life: another number than before. */
  void beat(long number) {
    LONGS.setRelease(bytes, BEAT, number);
  }

  long beat() {
    return (long) LONGS.getAcquire(bytes, BEAT);
  }

  /** Says why the owner has lost its group; once. */
  void abort(CollectiveException cause) {
    byte[] message = new AbortMessage(cause.code(), cause.getMessage()).bytes();
    bytes.putInt(BoardLayout.ABORT, message.length);
    bytes.put(BoardLayout.ABORT + Integer.BYTES, message);
    LONGS.setVolatile(bytes, ABORTED, 1L);
  }

  boolean isAborted() {
    return (long) LONGS.getVolatile(bytes, ABORTED) != 0;
  }

  CollectiveException abortCause() {
    int length = Math.min(bytes.getInt(BoardLayout.ABORT), AbortMessage.MOST_BYTES);
    AbortMessage message =
        AbortMessage.read(
            bytes.slice(
                BoardLayout.ABORT + Integer.BYTES, Math.max(AbortMessage.FIXED_BYTES, length)));
    return new CollectiveException(message.code(), message.text());
  }

  /** Lets peers find the next segment of the owner. */
  void addSegment(int segment, int fileNumber, int byteCount) {
    int entry = entry(segment);
    bytes.putInt(entry, fileNumber).putLong(entry + Long.BYTES, byteCount);
    LONGS.setRelease(bytes, SEGMENT_COUNT, segment + 1L);
  }

  long segmentCount() {
    return (long) LONGS.getAcquire(bytes, SEGMENT_COUNT);
  }

  int segmentFileNumber(int segment) {
    return bytes.getInt(entry(segment));
  }

  long segmentByteCount(int segment) {
    return bytes.getLong(entry(segment) + Long.BYTES);
  }

  private static int entry(int segment) {
    return BoardLayout.SEGMENTS + segment * BoardLayout.SEGMENT_ENTRY;
  }
}
