// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.util.concurrent.TimeUnit;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.liveness.Watchdog;
import org.rankfold.memory.ArenaSource;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.PairPath;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.view.View;

/**
 * A task's side of a group over shared memory. A pair is mapped in a call when both bring arenas;
 * any other memory is copied into slots by its owner and out of them by the peer. A small
 * all-reduce is carried by the records.
 */
final class SharedMemoryTransport implements Transport {
  /** The process's own: aborts are seen within ten milliseconds. */
  private static final Watchdog WATCHDOG =
      new Watchdog("rankfold-sharedmemory", TimeUnit.MILLISECONDS.toNanos(10));

  private final BoardLayout layout;
  private final RankTable table;
  private final int task;
  private final SharedMemoryOptions options;
  private final SharedSegment own;
  private final Board board;
  private final RecordArea records;
  private final SegmentPool pool;
  private final PeerSegments[] peers;
  private final RecordArea[] peerRecords;
  private final LaneEnd[] outgoing;
  private final Lane[] incoming;
  private final long[] received;
  private final PeerWatch watch;
  private final Watchdog.Watch watching;
  private final RecordArea.Reach[] ownReach = new RecordArea.Reach[2];
  private int nextPolled;
  private boolean closed;

  SharedMemoryTransport(SharedSegment own, PeerSegments[] peers, AbortLatch latch) {
    this.own = own;
    this.layout = own.layout();
    this.table = layout.table();
    this.task = own.task();
    this.options = own.options();
    this.board = own.board();
    this.records = new RecordArea(board, layout);
    this.pool = new SegmentPool(own.segments());
    this.peers = peers;
    this.peerRecords = new RecordArea[table.tasks()];
    this.outgoing = new LaneEnd[table.tasks()];
    this.incoming = new Lane[table.tasks()];
    this.received = new long[table.tasks()];
    makeLanes();
    this.watch =
        new PeerWatch(table, task, board, peers, latch, options.peerTimeoutNs(), System.nanoTime());
    this.watching = WATCHDOG.watch(watch);
  }

  private void makeLanes() {
    int tasks = table.tasks();
    Lane[] lanes = new Lane[tasks];
    for (int peer = 0; peer < tasks; peer++) {
      if (peer != task) {
        lanes[peer] = new Lane(board, layout, task, peer);
      }
    }
    StagingSlots shared =
        new StagingSlots(own.segments(), BoardLayout.SHARED_SLOTS, options.slotBytes(), lanes);
    for (int peer = 0; peer < tasks; peer++) {
      if (peer != task) {
        StagingSlots addends =
            new StagingSlots(
                own.segments(), layout.addendSlots(task), options.slotBytes(), lanes[peer]);
        outgoing[peer] = new LaneEnd(peer, lanes[peer], addends, shared);
        incoming[peer] = new Lane(peers[peer].board(), layout, peer, task);
        peerRecords[peer] = new RecordArea(peers[peer].board(), layout);
      }
    }
  }

  @Override
  public String name() {
    return "sharedmemory";
  }

  @Override
  public PairPath path(int peer, CallRecord own, CallRecord theirs) {
    long call = own.header().number();
    if (isCarried(call)) {
      return PairPath.CARRIED;
    }
    return wantsPlaces(peer, call) && peerRecords[peer].reach(call) == RecordArea.Reach.SEGMENTS
        ? PairPath.MAPPED
        : PairPath.STAGED;
  }

  /** Whether every record holds its task's addends; all tasks see the same records. */
  private boolean isCarried(long call) {
    if (ownReach[(int) (call & 1)] != RecordArea.Reach.RECORD) {
      return false;
    }
    for (RecordArea theirs : peerRecords) {
      if (theirs != null && theirs.reach(call) != RecordArea.Reach.RECORD) {
        return false;
      }
    }
    return true;
  }

  /** Whether this task would map the peer's memory in a call. */
  private boolean wantsPlaces(int peer, long call) {
    return options.maps(task, peer) && ownReach[(int) (call & 1)] == RecordArea.Reach.SEGMENTS;
  }

  @Override
  public String pathName() {
    return options.mapsNone() ? "staged" : "mixed";
  }

  @Override
  public ArenaSource arenas() {
    return pool;
  }

  @Override
  public int localTasks() {
    return table.tasks();
  }

  @Override
  public AbortLatch abortLatch() {
    return watch.latch();
  }

  @Override
  public void publish(CallRecord record) {
    long call = record.header().number();
    // A device's memory is not copied for a call that its own lane may serve.
    boolean isCarried =
        options.mapsAll()
            && !record.header().onDevice()
            && RecordArea.isCarried(record.header(), layout);
    ownReach[(int) (call & 1)] = records.write(record, isCarried, own.segments());
    board.publish(call);
  }

  @Override
  public CallRecord recordOf(int peer, long call) {
    return peers[peer].board().published() >= call
        ? peerRecords[peer].read(call, peers[peer], wantsPlaces(peer, call))
        : null;
  }

  @Override
  public long lastPublished(int peer) {
    return peers[peer].board().published();
  }

  /** A peer that closed because it failed has said so before. */
  @Override
  public boolean isClosed(int peer) {
    boolean closed = peers[peer].board().isClosed();
    if (closed) {
      watch.readAborts();
    }
    return closed;
  }

  @Override
  public boolean enter(long call) {
    board.enter(call);
    watch.readAborts();
    if (watch.latch().isTripped()) {
      board.leave(call, false);
      return false;
    }
    return true;
  }

  @Override
  public void leave(long call, boolean completed) {
    board.leave(call, completed);
  }

  @Override
  public boolean hasCompleted(int peer, long call) {
    return peers[peer].board().hasCompleted(call);
  }

  @Override
  public boolean hasLeft(int peer, long call) {
    return peers[peer].board().hasLeft(call);
  }

  @Override
  public boolean isInside(int peer) {
    watch.tellPeers();
    return !watch.isDead(peer) && peers[peer].board().isInside();
  }

  @Override
  public long lastEntered(int peer) {
    return peers[peer].board().entered();
  }

  @Override
  public boolean knowsWhoIsInside() {
    return true;
  }

  @Override
  public boolean isGone(int peer) {
    return watch.isDead(peer) || peers[peer].board().isClosed();
  }

  @Override
  public boolean offer(int peer, DeliveryTag tag, View source) {
    return outgoing[peer].offer(tag, source);
  }

  @Override
  public Delivery poll() {
    int tasks = table.tasks();
    for (int i = 0; i < tasks; i++) {
      int peer = nextPolled;
      nextPolled = nextPolled + 1 == tasks ? 0 : nextPolled + 1;
      if (peer != task && incoming[peer].isSent(received[peer] + 1)) {
        received[peer]++;
        return new LaneDelivery(peer, incoming[peer], received[peer], peers[peer]);
      }
    }
    return null;
  }

  /** Sources are copied at once; what is awaited is that peers have mapped the slots' segments. */
  @Override
  public boolean isFlushed() {
    for (LaneEnd lane : outgoing) {
      if (lane != null && !lane.isMapped()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    watching.close();
    watch.tellPeers();
    for (PeerSegments peer : peers) {
      if (peer != null) {
        peer.unmap();
      }
    }
    own.close();
  }
}
