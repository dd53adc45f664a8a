// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.liveness.Watchdog;
import org.rankfold.transport.RankTable;

/**
 * Carries aborts between the group's latch and the boards, and ends the group when a peer's process
 * is gone or gives no sign of life. {@link #look} is one thread's; the rest is anybody's.
 */
final class PeerWatch implements Watchdog.Watched {
  private static final long PROCESS_PACE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Between two looks of a process that was not stopped itself. */
  private static final long LONGEST_GAP_NS = TimeUnit.SECONDS.toNanos(1);

  private final RankTable table;
  private final int task;
  private final Board own;
  private final PeerSegments[] peers;
  private final AbortLatch latch;
  private final long peerTimeoutNs;
  private final Object telling = new Object();
  private final long[] beats;
  private final long[] heardNs;
  private volatile boolean[] dead;
  private volatile boolean told;
  private long ownBeat;
  private long lookedNs;
  private long processesSeenNs;

  PeerWatch(
      RankTable table,
      int task,
      Board own,
      PeerSegments[] peers,
      AbortLatch latch,
      long peerTimeoutNs,
      long nowNs) {
    this.table = table;
    this.task = task;
    this.own = own;
    this.peers = peers;
    this.latch = latch;
    this.peerTimeoutNs = peerTimeoutNs;
    this.dead = new boolean[peers.length];
    this.beats = new long[peers.length];
    this.heardNs = new long[peers.length];
    this.lookedNs = nowNs;
    this.processesSeenNs = nowNs;
    hearAll(nowNs);
  }

  AbortLatch latch() {
    return latch;
  }

  /** Trips the latch with the first abort that a board shows. */
  void readAborts() {
    for (int peer = 0; peer < peers.length; peer++) {
      if (peer != task && peers[peer].board().isAborted() && !latch.isTripped()) {
        latch.trip(peers[peer].board().abortCause());
      }
    }
  }

  /** Shows the latch's cause on the own board; once it returned, peers that enter see it. */
  void tellPeers() {
    if (told || !latch.isTripped()) {
      return;
    }
    synchronized (telling) {
      if (!told) {
        own.abort(latch.cause());
        told = true;
      }
    }
  }

  /** Whether no thread of the peer can touch memory any more. */
  boolean isDead(int peer) {
    return dead[peer];
  }

  @Override
  public void look(long nowNs) {
    own.beat(++ownBeat);
    readAborts();
    if (nowNs - lookedNs > LONGEST_GAP_NS) {
      hearAll(nowNs);
    }
    lookedNs = nowNs;
    if (nowNs - processesSeenNs >= PROCESS_PACE_NS) {
      processesSeenNs = nowNs;
      for (int peer = 0; peer < peers.length; peer++) {
        if (peer != task && !dead[peer]) {
          lookAt(peer, nowNs);
        }
      }
    }
    tellPeers();
  }

  /** This process was stopped itself: what it has not seen since proves nothing. */
  private void hearAll(long nowNs) {
    Arrays.fill(heardNs, nowNs);
  }

  private void lookAt(int peer, long nowNs) {
    Board board = peers[peer].board();
    if (peers[peer].process().isGone()) {
      boolean[] more = dead.clone();
      more[peer] = true;
      dead = more;
      // What the peer said last comes first.
      readAborts();
      if (!board.isClosed()) {
        latch.trip(lost(peer, "died: its process %d is gone", peers[peer].process().pid()));
      }
      return;
    }
    long beat = board.beat();
    if (beat != beats[peer] || board.isClosed()) {
      beats[peer] = beat;
      heardNs[peer] = nowNs;
    } else if (nowNs - heardNs[peer] >= peerTimeoutNs) {
      latch.trip(
          lost(
              peer,
              "is silent: its process %d has given no sign of life for %.1f s",
              peers[peer].process().pid(),
              (nowNs - heardNs[peer]) / 1e9));
    }
  }

  private CollectiveException lost(int peer, String format, Object... values) {
    return new CollectiveException(
        ErrorCode.PEER_FAILED,
        table.describe(peer) + " " + String.format(Locale.ROOT, format, values));
  }
}
