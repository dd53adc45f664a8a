// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.rankfold.deadline.Deadline;

/**
 * The end of a mesh: writes the last words, ends each stream once they are written, and reads until
 * the peers have ended theirs. Holds the transport's lock a turn at a time.
 */
final class Parting {
  private static final long LINGER_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long PARK_NS = 200_000;

  private final Mesh mesh;
  private final Lock lock;
  private final boolean[] ended;

  Parting(Mesh mesh, Lock lock) {
    this.mesh = mesh;
    this.lock = lock;
    this.ended = new boolean[mesh.all().length];
  }

  /**
   * Waits until all peers have closed their side, for two seconds at most; an interrupt stays
   * pending, since last words are owed all the same.
   */
  void linger(ByteBuffer scratch) {
    boolean wasInterrupted = Thread.interrupted();
    long nowNs = System.nanoTime();
    Deadline deadline = Deadline.after(nowNs, LINGER_NS);
    while (!isSpokenOut(scratch, nowNs) && !deadline.isExpired(nowNs)) {
      LockSupport.parkNanos(PARK_NS);
      wasInterrupted |= Thread.interrupted();
      nowNs = System.nanoTime();
    }
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isSpokenOut(ByteBuffer scratch, long nowNs) {
    boolean isOut = true;
    lock.lock();
    try {
      for (int i = 0; i < ended.length; i++) {
        Connection connection = mesh.all()[i];
        if (connection.isShut()) {
          continue;
        }
        connection.write(nowNs);
        if (connection.isWritten() && !ended[i]) {
          ended[i] = true;
          try {
            connection.endWriting();
          } catch (IOException e) {
            connection.shut();
            continue;
          }
        }
        if (!connection.discard(scratch) || connection.isWriteBroken()) {
          connection.shut();
        } else {
          isOut = false;
        }
      }
    } finally {
      lock.unlock();
    }
    return isOut;
  }
}
