// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.rankfold.InternalApi;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.PairPath;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.view.DirectView;
import org.rankfold.view.View;
import org.rankfold.wire.AbortMessage;
import org.rankfold.wire.CallMessage;
import org.rankfold.wire.FrameDecoder;
import org.rankfold.wire.FrameHeader;
import org.rankfold.wire.FrameType;
import org.rankfold.wire.RefusedBytes;
import org.rankfold.wire.WireRefusal;

/**
 * A task's connections to all peers of its group. Whoever waits in a call moves the bytes, on its
 * own thread; while the task does something else the listener's thread does, and it alone judges
 * silence: so deaths and aborts are noticed at any time. One lock guards everything, held for one
 * turn of non-blocking reads and writes at most.
 *
 * <p>Channels never block, and an interrupt does not close a channel that doesn't block; the
 * interrupt is held back for the length of a turn all the same.
 */
@InternalApi
public final class TcpTransport implements Transport {
  private static final int SMALL_TOTAL_BYTES = 64 << 10;
  private static final long LINGER_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long CLOSE_PARK_NS = 200_000;

  private final RankTable table;
  private final int task;
  private final long epoch;
  private final int localTasks;
  private final TcpOptions options;
  private final TcpListener listener;
  private final AbortLatch latch = new AbortLatch();
  private final ReentrantLock lock = new ReentrantLock();
  private final Connection[] connections;
  private final ArrayDeque<TcpDelivery> arrived = new ArrayDeque<>();
  private final ByteBuffer header = ByteBuffer.allocate(FrameHeader.BYTES + CallMessage.MOST_BYTES);

  private Landing landing;
  private boolean isTaskTurn;
  private boolean isAbortTold;
  private boolean isAbandoned;
  private boolean isClosed;
  private long published;
  private long contract;
  private long sentElementBytes;
  private long copiedOutBytes;
  private long taskTurns;
  private long seenTaskTurns = -1;

  TcpTransport(MeshJoin join, List<MeshLink> links, long nowNs) {
    this.table = join.table();
    this.task = join.task();
    this.epoch = join.secret().frameEpoch();
    this.localTasks = join.localTasks();
    this.options = join.options();
    this.listener = join.listener();
    this.connections = new Connection[table.tasks()];
    for (MeshLink link : links) {
      int window = window(table.rankCount(task));
      Outbound outbound = new Outbound(listener.pool(), window);
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
              new Ear(connection),
              listener.pool()));
      connections[link.peer()] = connection;
    }
    listener.watch(this);
  }

  /** The slots a task has at each peer: two chunks of each of its ranks, and two results. */
  private static int window(int rankCount) {
    return 2 * (rankCount + 1);
  }

  @Override
  public String name() {
    return "tcp";
  }

  @Override
  public PairPath path(int peer, CallRecord own, CallRecord theirs) {
    return PairPath.STAGED;
  }

  @Override
  public int localTasks() {
    return localTasks;
  }

  @Override
  public AbortLatch abortLatch() {
    return latch;
  }

  @Override
  public boolean isLookCheap() {
    return false;
  }

  @Override
  public boolean isEager() {
    return true;
  }

  @Override
  public long smallBytes() {
    return Math.min(options.chunkBytes(), SMALL_TOTAL_BYTES / table.world());
  }

  @Override
  public void publish(CallRecord record) {
    lock.lock();
    try {
      published = record.header().number();
      CallMessage message = WireWords.message(record.header());
      int length = message.byteCount();
      header.clear().position(FrameHeader.BYTES);
      message.put(header);
      header.flip();
      contract = CallMessage.hash(header, FrameHeader.BYTES);
      for (Connection connection : connections) {
        if (connection != null && !connection.isShut() && !connection.hasSaidGoodbye()) {
          ByteBuffer frame = connection.outbound().smallBuffer(FrameHeader.BYTES + length);
          FrameHeader.putCall(frame, epoch, published, contract, length, connection.tellReleased());
          frame.put(frame.position(), header, FrameHeader.BYTES, length);
          connection.outbound().addControl(frame.position(FrameHeader.BYTES + length));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CallRecord recordOf(int peer, long call) {
    lock.lock();
    try {
      CallRecord record = connections[peer].record(call);
      if (record == null) {
        turn(true);
        record = connections[peer].record(call);
      }
      return record;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long lastPublished(int peer) {
    lock.lock();
    try {
      return connections[peer].published();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isClosed(int peer) {
    lock.lock();
    try {
      return connections[peer].hasSaidGoodbye();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean enter(long call) {
    return !latch.isTripped();
  }

  @Override
  public void leave(long call, boolean completed) {}

  @Override
  public boolean hasCompleted(int peer, long call) {
    return true;
  }

  @Override
  public boolean hasLeft(int peer, long call) {
    return true;
  }

  @Override
  public boolean isInside(int peer) {
    return false;
  }

  @Override
  public long lastEntered(int peer) {
    return 0;
  }

  @Override
  public boolean offer(int peer, DeliveryTag tag, View source) {
    lock.lock();
    try {
      Connection connection = connections[peer];
      Outbound outbound = connection.outbound();
      if (connection.isShut() || isAbandoned || !outbound.hasSlot()) {
        return false;
      }
      int length = Math.toIntExact(source.byteCount());
      ByteBuffer frame = outbound.smallBuffer(FrameHeader.BYTES);
      FrameHeader.putData(
          frame,
          epoch,
          tag.call(),
          contract,
          WireWords.code(tag.phase()),
          source.dtype(),
          tag.index(),
          tag.chunk(),
          length,
          connection.tellReleased());
      if (source instanceof DirectView direct) {
        outbound.addData(frame, direct.window(), OutFrame.Owner.BORROWED);
      } else {
        ByteBuffer copy = listener.pool().take(length);
        source.copyTo(View.of(copy, source.dtype()));
        outbound.addData(frame, copy, OutFrame.Owner.POOLED);
        copiedOutBytes += length;
      }
      sentElementBytes += length;
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Delivery poll() {
    lock.lock();
    try {
      TcpDelivery next = arrived.poll();
      if (next == null) {
        turn(true);
        next = arrived.poll();
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isFlushed() {
    lock.lock();
    try {
      if (isBorrowing()) {
        turn(true);
      }
      return !isBorrowing();
    } finally {
      lock.unlock();
    }
  }

  private boolean isBorrowing() {
    for (Connection connection : connections) {
      if (connection != null && !connection.outbound().isFlushed()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void land(Landing newLanding) {
    lock.lock();
    try {
      landing = newLanding;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void abandon() {
    lock.lock();
    try {
      landing = null;
      isAbandoned = true;
      tellAbort();
      for (Connection connection : connections) {
        if (connection != null && !connection.isShut()) {
          connection.outbound().abandon();
        }
      }
      turn(false);
    } finally {
      lock.unlock();
    }
  }

  void release(Connection connection, ByteBuffer slot) {
    lock.lock();
    try {
      if (slot != null) {
        listener.pool().give(slot);
      }
      connection.giveSlotBack();
    } finally {
      lock.unlock();
    }
  }

  /** Moves what can move now; under the lock. */
  private void turn(boolean isTask) {
    if (isClosed) {
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
      for (Connection connection : connections) {
        if (connection != null && !connection.isShut()) {
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
    for (Connection connection : connections) {
      if (connection != null && !connection.isShut()) {
        connection.sayAbort(message);
      }
    }
  }

  /** The listener's thread, now and then: does the task's part while the task is elsewhere. */
  void tick(long nowNs) {
    if (!lock.tryLock()) {
      return;
    }
    try {
      if (isClosed) {
        return;
      }
      boolean isTaskAway = taskTurns == seenTaskTurns;
      seenTaskTurns = taskTurns;
      if (isTaskAway || (latch.isTripped() && !isAbortTold)) {
        turn(false);
      }
      for (Connection connection : connections) {
        if (connection != null && !connection.isShut() && !connection.hasSaidGoodbye()) {
          judge(connection, nowNs);
        }
      }
    } finally {
      lock.unlock();
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

  /**
   * What the connections have carried so far. May be called by any thread.
   *
   * @return a consistent state
   */
  public TcpCounts counts() {
    lock.lock();
    try {
      long sent = 0;
      long received = 0;
      long elements = 0;
      long copied = 0;
      long landed = 0;
      for (Connection connection : connections) {
        if (connection != null) {
          sent += connection.outbound().writtenBytes();
          received += connection.inbound().readBytes();
          elements += connection.inbound().elementBytes();
          copied += connection.inbound().copiedBytes();
          landed += connection.inbound().landedBytes();
        }
      }
      return new TcpCounts(
          sent, received, sentElementBytes, copiedOutBytes, elements, copied, landed);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Says goodbye to every peer and waits until they have read it and closed their side, for two
   * seconds at most.
   */
  @Override
  public void close() {
    lock.lock();
    try {
      if (isClosed) {
        return;
      }
      tellAbort();
      isClosed = true;
      landing = null;
      for (Connection connection : connections) {
        if (connection != null && !connection.isShut()) {
          connection.outbound().abandon();
          connection.say(FrameType.GOODBYE);
        }
      }
    } finally {
      lock.unlock();
    }
    boolean wasInterrupted = Thread.interrupted();
    linger();
    lock.lock();
    try {
      for (Connection connection : connections) {
        if (connection != null) {
          connection.shut();
        }
      }
      arrived.forEach(TcpDelivery::release);
      arrived.clear();
    } finally {
      lock.unlock();
    }
    listener.unwatch(this);
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void linger() {
    Deadline deadline = Deadline.after(System.nanoTime(), LINGER_NS);
    ByteBuffer scratch = listener.pool().take(options.chunkBytes());
    boolean[] ended = new boolean[connections.length];
    long nowNs = System.nanoTime();
    while (!isSpokenOut(ended, scratch, nowNs) && !deadline.isExpired(nowNs)) {
      LockSupport.parkNanos(CLOSE_PARK_NS);
      nowNs = System.nanoTime();
    }
    listener.pool().give(scratch);
  }

  private boolean isSpokenOut(boolean[] ended, ByteBuffer scratch, long nowNs) {
    boolean isOut = true;
    lock.lock();
    try {
      for (Connection connection : connections) {
        if (connection == null || connection.isShut()) {
          continue;
        }
        connection.write(nowNs);
        if (connection.outbound().isEmpty() && !ended[connection.peer()]) {
          ended[connection.peer()] = true;
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

  /** What one connection's frames mean for the group. */
  private final class Ear implements Inbound.Receiver {
    private final Connection connection;

    Ear(Connection connection) {
      this.connection = connection;
    }

    @Override
    public View placeOf(DeliveryTag tag) {
      return isTaskTurn && landing != null ? landing.placeOf(connection.peer(), tag) : null;
    }

    @Override
    public void onData(DeliveryTag tag, View view, ByteBuffer slot) {
      arrived.add(new TcpDelivery(TcpTransport.this, connection, tag, view, slot));
    }

    @Override
    public void onCall(long number, CallMessage message) throws RefusedBytes {
      if (number > published + 1) {
        throw new RefusedBytes(
            WireRefusal.OUT_OF_SEQUENCE, "call=%d while this task is at %d", number, published);
      }
      connection.onPublished(WireWords.header(number, message));
    }

    @Override
    public void onAbort(AbortMessage message) {
      CollectiveException cause = new CollectiveException(message.code(), message.text());
      if (latch.trip(cause) == cause) {
        isAbortTold = true;
      }
    }

    @Override
    public void onGoodbye() {
      connection.onGoodbye();
    }
  }
}
