// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import org.rankfold.deadline.AbortLatch;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.PairPath;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;

/**
 * Where the tasks of one group in one JVM meet. Thread-safe; each task takes its transport once.
 */
public final class LoopbackHub {
  private static final int CHUNKS_IN_FLIGHT = 2;

  private final RankTable table;
  private final LoopbackOptions options;
  private final AbortLatch latch = new AbortLatch();
  private final Seat[] seats;
  private final Lane[][] lanes;
  private final boolean[] taken;

  /**
   * A hub nobody has joined.
   *
   * @param table who hosts what
   * @param options how bytes move
   */
  public LoopbackHub(RankTable table, LoopbackOptions options) {
    this.table = table;
    this.options = options;
    int tasks = table.tasks();
    this.seats = new Seat[tasks];
    this.lanes = new Lane[tasks][tasks];
    this.taken = new boolean[tasks];
    for (int task = 0; task < tasks; task++) {
      seats[task] = new Seat();
      for (int peer = 0; peer < tasks; peer++) {
        if (peer != task && path(task, peer) == PairPath.STAGED) {
          int slots = (table.rankCount(task) + 1) * CHUNKS_IN_FLIGHT;
          lanes[task][peer] = new Lane(task, peer, slots, options);
        }
      }
    }
  }

  /**
   * The transport of a task.
   *
   * @param task from 0
   * @return its transport, owned by the caller
   * @throws CollectiveException INVALID_ARGUMENT when the task is none of the group's or has joined
   */
  public Transport join(int task) {
    synchronized (taken) {
      if (task < 0 || task >= taken.length) {
        throw CollectiveException.usage(
            ErrorCode.INVALID_ARGUMENT, "task=%d is not below tasks=%d", task, taken.length);
      }
      if (taken[task]) {
        throw CollectiveException.usage(
            ErrorCode.INVALID_ARGUMENT, "task=%d has joined the group before", task);
      }
      taken[task] = true;
    }
    return new LoopbackTransport(this, task);
  }

  RankTable table() {
    return table;
  }

  LoopbackOptions options() {
    return options;
  }

  /**
   * The latch all tasks of the group share.
   *
   * @return the latch
   */
  public AbortLatch latch() {
    return latch;
  }

  Seat seat(int task) {
    return seats[task];
  }

  Lane lane(int sender, int receiver) {
    return lanes[sender][receiver];
  }

  PairPath path(int task, int peer) {
    return options.pathRule().path(task, peer);
  }

  /**
   * Whether every task has closed its transport.
   *
   * @return true when nobody is left
   */
  public boolean isDeserted() {
    for (Seat seat : seats) {
      if (!seat.isClosed()) {
        return false;
      }
    }
    return true;
  }
}
