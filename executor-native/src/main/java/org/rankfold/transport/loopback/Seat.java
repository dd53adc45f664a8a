// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import java.util.concurrent.atomic.AtomicLongArray;
import org.rankfold.transport.CallRecord;

/**
 * What a task shows its peers. Only the task writes; each word has two cache lines of its own. The
 * records of two calls are kept, by parity: a peer reads call k until it publishes k + 1, and
 * nobody publishes k + 2 before that.
 */
final class Seat {
  private static final int STRIDE = 16;
  private static final int PUBLISHED = STRIDE;
  private static final int ENTERED = 2 * STRIDE;
  private static final int LEFT = 3 * STRIDE;
  private static final int COMPLETED = 4 * STRIDE;

  private final AtomicLongArray words = new AtomicLongArray(6 * STRIDE);
  private final CallRecord[] records = new CallRecord[2];
  private volatile boolean closed;

  void publish(CallRecord record) {
    long number = record.header().number();
    records[(int) (number & 1)] = record;
    words.setRelease(PUBLISHED, number);
  }

  CallRecord record(long number) {
    return words.getAcquire(PUBLISHED) >= number ? records[(int) (number & 1)] : null;
  }

  long published() {
    return words.getAcquire(PUBLISHED);
  }

  /**
   * Sequentially consistent: the reader of the latch and the reader of this word can't both miss.
   */
  void enter(long number) {
    words.set(ENTERED, number);
  }

  void leave(long number, boolean completed) {
    if (completed) {
      words.setRelease(COMPLETED, number);
    }
    words.set(LEFT, number);
  }

  boolean hasLeft(long number) {
    return words.getAcquire(LEFT) >= number;
  }

  boolean hasCompleted(long number) {
    return words.getAcquire(COMPLETED) >= number;
  }

  boolean isInside() {
    long left = words.get(LEFT);
    return words.get(ENTERED) > left;
  }

  long entered() {
    return words.get(ENTERED);
  }

  void close() {
    closed = true;
  }

  boolean isClosed() {
    return closed;
  }
}
