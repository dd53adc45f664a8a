// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import org.rankfold.transport.RankTable;
import org.rankfold.wire.CallMessage;

/**
 * What lies where on the boards of a group; docs/spec/shared-memory.md draws it. Every word that
 * one task writes and others read has two cache lines of its own.
 */
final class BoardLayout {
  static final int LINE = 128;
  static final int ABORT = 2048;
  static final int SEGMENTS = 8192;
  static final int MOST_SEGMENTS = 1024;
  static final int SEGMENT_ENTRY = 16;
  static final int RECORD_HEADER = LINE;
  static final int VIEW_ENTRY = 16;
  static final int CELL = 2 * LINE;

  /** The largest stretch of addends that a record carries. */
  static final int MOST_CARRIED = 16 * 1024;

  /** Slots of a task for what it sends to several peers alike. */
  static final int SHARED_SLOTS = 4;

  private static final int CHUNKS_IN_FLIGHT = 2;
  private static final int RECORDS = SEGMENTS + MOST_SEGMENTS * SEGMENT_ENTRY;
  private static final int VIEWS = RECORD_HEADER + aligned(CallMessage.MOST_BYTES);

  private final RankTable table;
  private final int carried;
  private final int recordBytes;

  BoardLayout(RankTable table) {
    this.table = table;
    this.carried = VIEWS + aligned(2 * table.rankCount(0) * VIEW_ENTRY);
    this.recordBytes = carried + MOST_CARRIED;
  }

  RankTable table() {
    return table;
  }

  /** Where a call's record starts: those of two calls are kept, by parity. */
  int record(long call) {
    return RECORDS + (int) (call & 1) * recordBytes;
  }

  /** Where in a record its places lie. */
  int views() {
    return VIEWS;
  }

  /** Where in a record its carried addends lie. */
  int carried() {
    return carried;
  }

  /** How many slots a task has for its addends to one peer. */
  int addendSlots(int task) {
    return table.rankCount(task) + CHUNKS_IN_FLIGHT + 1;
  }

  /** How many deliveries from a task to one peer can be under way. */
  int cells(int sender) {
    return 2 * (addendSlots(sender) + SHARED_SLOTS);
  }

  /** Where on a sender's board the cells to a receiver start. */
  int lane(int sender, int receiver) {
    return RECORDS + 2 * recordBytes + receiver * cells(sender) * CELL;
  }

  /** The size of a task's board. */
  int byteCount(int task) {
    return lane(task, table.tasks());
  }

  static int aligned(int byteCount) {
    return (byteCount + LINE - 1) / LINE * LINE;
  }
}
