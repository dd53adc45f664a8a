// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.nio.ByteBuffer;
import org.rankfold.contract.DType;
import org.rankfold.transport.DeliveryTag;

/**
 * The deliveries from one task to another: a ring of cells on the sender's board, numbered from 1.
 * The sender fills a cell and sets its number; the receiver answers with the same number in the
 * cell's second line. Each side has one thread.
 */
final class Lane {
  private static final DeliveryTag.Phase[] PHASES = DeliveryTag.Phase.values();
  private static final DType[] DTYPES = DType.values();
  private static final int SEGMENT = 8;
  private static final int OFFSET = 12;
  private static final int BYTE_COUNT = 16;
  private static final int DTYPE = 20;
  private static final int PHASE = 24;
  private static final int INDEX = 28;
  private static final int CHUNK = 32;
  private static final int CALL = 40;
  private static final int RELEASED = BoardLayout.LINE;

  private final ByteBuffer bytes;
  private final int start;
  private final int cells;

  Lane(Board board, BoardLayout layout, int sender, int receiver) {
    this.bytes = board.bytes();
    this.start = layout.lane(sender, receiver);
    this.cells = layout.cells(sender);
  }

  private int cell(long number) {
    return start + (int) ((number - 1) % cells) * BoardLayout.CELL;
  }

  /** Whether the cell of a delivery is no longer used by the one before. */
  boolean isFree(long number) {
    return number <= cells || isReleased(number - cells);
  }

  void send(long number, DeliveryTag tag, DType dtype, Place place, int byteCount) {
    int cell = cell(number);
    bytes.putInt(cell + SEGMENT, place.segment()).putInt(cell + OFFSET, place.offset());
    bytes.putInt(cell + BYTE_COUNT, byteCount).putInt(cell + DTYPE, code(DTYPES, dtype));
    bytes.putInt(cell + PHASE, code(PHASES, tag.phase())).putInt(cell + INDEX, tag.index());
    bytes.putInt(cell + CHUNK, tag.chunk()).putLong(cell + CALL, tag.call());
    Board.LONGS.setRelease(bytes, cell, number);
  }

  private static <T> int code(T[] values, T value) {
    int code = 0;
    while (values[code] != value) {
      code++;
    }
    return code;
  }

  boolean isSent(long number) {
    return (long) Board.LONGS.getAcquire(bytes, cell(number)) == number;
  }

  DeliveryTag tag(long number) {
    int cell = cell(number);
    return new DeliveryTag(
        bytes.getLong(cell + CALL),
        PHASES[bytes.getInt(cell + PHASE)],
        bytes.getInt(cell + INDEX),
        bytes.getInt(cell + CHUNK));
  }

  DType dtype(long number) {
    return DTYPES[bytes.getInt(cell(number) + DTYPE)];
  }

  Place place(long number) {
    int cell = cell(number);
    return new Place(bytes.getInt(cell + SEGMENT), bytes.getInt(cell + OFFSET));
  }

  int byteCount(long number) {
    return bytes.getInt(cell(number) + BYTE_COUNT);
  }

  void release(long number) {
    Board.LONGS.setRelease(bytes, cell(number) + RELEASED, number);
  }

  boolean isReleased(long number) {
    return (long) Board.LONGS.getAcquire(bytes, cell(number) + RELEASED) >= number;
  }
}
