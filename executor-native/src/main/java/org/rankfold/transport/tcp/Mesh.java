// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.RankTable;
import org.rankfold.wire.AbortMessage;
import org.rankfold.wire.FrameDecoder;
import org.rankfold.wire.FrameType;
import org.rankfold.wire.RefusedBytes;

/**
 * A task's connections to all its peers, and what their life means for the group: bytes move a turn
 * at a time, a death or a silence trips the latch, an abort is told to everyone once. Owned by who
 * holds the transport's lock.
 */
final class Mesh {
  private final RankTable table;
  private final TcpOptions options;
  private final TcpListener listener;
  private final AbortLatch latch = new AbortLatch();
  private final Connection[] byTask;
  private final Connection[] all;

  private boolean isTaskTurn;
  private boolean isAbortTold;
  private boolean isAbandoned;
  private boolean isEnded;
  private long taskTurns;
  private long seenTaskTurns = -1;

  Mesh(
      MeshJoin join,
      List<MeshLink> links,
      Function<Connection, Inbound.Receiver> receivers,
      long nowNs) {
    this.table = join.table();
    this.options = join.options();
    this.listener = join.listener();
    this.byTask = new Connection[table.tasks()];
    long epoch = join.secret().frameEpoch();
    for (MeshLink link : links) {
      Outbound outbound = new Outbound(listener.pool(), window(table.rankCount(join.task())));
      Connection connection =
          new Connection(
              link,
              epoch,
              window(table.rankCount(link.peer())),
              new PeerSilence(options.peerTimeoutNs(), nowNs),
              outbound);
      connection.receiveWith(
          new Inbound(
              new FrameDecoder(epoch, options.chunkBytes(), table.world()),
              outbound,
              receivers.apply(connection),
              listener.pool(),
              link.early()));
      byTask[link.peer()] = connection;
    }
    this.all = Arrays.stream(byTask).filter(Objects::nonNull).toArray(Connection[]::new);
  }

  /** The slots a task has at each peer: two chunks of each of its ranks, and two results. */
  private static int window(int rankCount) {
    return 2 * (rankCount + 1);
  }

  AbortLatch latch() {
    return latch;
  }

  Connection of(int peer) {
    return byTask[peer];
  }

  /** All connections in the order of their tasks, also those that are shut. */
  Connection[] all() {
    return all;
  }

  /** Whether the turn under way is the task's own, not the listener's. */
  boolean isTaskTurn() {
    return isTaskTurn;
  }

  boolean isAbandoned() {
    return isAbandoned;
  }

  boolean isBorrowing() {
    for (Connection connection : all) {
      if (!connection.outbound().isFlushed()) {
        return true;
      }
    }
    return false;
  }

  /** Moves what can move now. */
  void turn(boolean isTask) {
    if (isEnded) {
      return;
    }
    boolean wasInterrupted = isTask && Thread.interrupted();
    isTaskTurn = isTask;
    taskTurns += isTask ? 1 : 0;
    try {
      if (latch.isTripped() && !isAbortTold) {
        tellAbort();
      }
      long nowNs = System.nanoTime();
      for (Connection connection : all) {
        if (!connection.isShut()) {
          connection.write(nowNs);
          read(connection, nowNs);
        }
      }
    } finally {
      isTaskTurn = false;
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void read(Connection connection, long nowNs) {
    if (isAbandoned && connection.inbound().isLanding()) {
      return;
    }
    try {
      if (!connection.read(nowNs)) {
        if (!connection.hasSaidGoodbye()) {
          lose(connection, ErrorCode.PEER_FAILED, "closed its connection without leaving");
        }
        connection.shut();
      }
    } catch (RefusedBytes e) {
      listener.count(e.refusal());
      lose(connection, ErrorCode.PROTOCOL, "sent what no correct peer sends: " + e.getMessage());
      connection.write(nowNs);
      connection.shut();
    }
  }

  private void lose(Connection connection, ErrorCode code, String what) {
    latch.trip(
        new CollectiveException(
            code,
            table.describe(connection.peer())
                + " at "
                + Sockets.text(connection.address())
                + " "
                + what));
    tellAbort();
  }

  /** Tells every peer why this task lost the group, once, unless a peer told it. */
  private void tellAbort() {
    CollectiveException cause = latch.cause();
    if (cause == null || isAbortTold) {
      return;
    }
    isAbortTold = true;
    byte[] message = new AbortMessage(cause.code(), cause.getMessage()).bytes();
    for (Connection connection : all) {
      if (!connection.isShut()) {
        connection.sayAbort(message);
      }
    }
  }

  /** A peer told why the group is lost. */
  void onAbort(AbortMessage message) {
    CollectiveException cause = new CollectiveException(message.code(), message.text());
    if (latch.trip(cause) == cause) {
      isAbortTold = true;
    }
  }

  /** Lets go of all memory that is not the transport's; what is under way is cut short. */
  void abandon() {
    isAbandoned = true;
    tellAbort();
    for (Connection connection : all) {
      if (!connection.isShut()) {
        connection.outbound().abandon();
      }
    }
    turn(false);
  }

  /** Does the task's part while the task is elsewhere, and judges silence. */
  void tick(long nowNs) {
    if (isEnded) {
      return;
    }
    boolean isTaskAway = taskTurns == seenTaskTurns;
    seenTaskTurns = taskTurns;
    if (isTaskAway || (latch.isTripped() && !isAbortTold)) {
      turn(false);
    }
    for (Connection connection : all) {
      if (!connection.isShut() && !connection.hasSaidGoodbye()) {
        judge(connection, nowNs);
      }
    }
  }

  private void judge(Connection connection, long nowNs) {
    PeerSilence silence = connection.silence();
    if (silence.isTooLong(nowNs)) {
      // It may be this process that was stopped: then the peer's signs lie unread.
      read(connection, nowNs);
    }
    if (connection.isShut()) {
      return;
    }
    if (silence.isTooLong(nowNs)) {
      lose(
          connection,
          ErrorCode.PEER_FAILED,
          String.format(
              Locale.ROOT,
              "has been silent for %.1f s, longer than %.1f s",
              silence.silentSeconds(nowNs),
              options.peerTimeoutNs() / 1e9));
      connection.write(nowNs);
      connection.shut();
    } else if (silence.isSignDue(nowNs) && connection.outbound().isEmpty()) {
      connection.say(FrameType.PULSE);
      connection.write(nowNs);
    }
  }

  /** Says goodbye to every peer; no turn moves anything from now on. False when said before. */
  boolean end() {
    if (isEnded) {
      return false;
    }
    tellAbort();
    isEnded = true;
    for (Connection connection : all) {
      if (!connection.isShut()) {
        connection.outbound().abandon();
        connection.say(FrameType.GOODBYE);
      }
    }
    return true;
  }

  /** Closes every connection. */
  void shut() {
    for (Connection connection : all) {
      connection.shut();
    }
  }
}
