// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.rankfold.InternalApi;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.CallWords;
import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.PairPath;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.view.DirectView;
import org.rankfold.view.View;
import org.rankfold.wire.AbortMessage;
import org.rankfold.wire.CallMessage;
import org.rankfold.wire.FrameHeader;
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

  private final RankTable table;
  private final long epoch;
  private final int localTasks;
  private final TcpOptions options;
  private final TcpListener listener;
  private final ReentrantLock lock = new ReentrantLock();
  private final Mesh mesh;
  private final ArrayDeque<TcpDelivery> arrived = new ArrayDeque<>();
  private final ByteBuffer header = ByteBuffer.allocate(FrameHeader.BYTES + CallMessage.MOST_BYTES);

  private Landing landing;
  private long published;
  private long contract;
  private long sentElementBytes;
  private long copiedOutBytes;

  TcpTransport(MeshJoin join, List<MeshLink> links, long nowNs) {
    this.table = join.table();
    this.epoch = join.secret().frameEpoch();
    this.localTasks = join.localTasks();
    this.options = join.options();
    this.listener = join.listener();
    this.mesh = new Mesh(join, links, Ear::new, nowNs);
    listener.watch(this);
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
    return mesh.latch();
  }

  @Override
  public boolean isLookCheap() {
    return false;
  }

  @Override
  public boolean stagesAll() {
    return true;
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
      CallMessage message = CallWords.message(record.header());
      int length = message.byteCount();
      header.clear().position(FrameHeader.BYTES);
      message.put(header);
      header.flip();
      contract = CallMessage.hash(header, FrameHeader.BYTES);
      for (Connection connection : mesh.all()) {
        if (!connection.isShut() && !connection.hasSaidGoodbye()) {
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
      CallRecord record = mesh.of(peer).record(call);
      if (record == null) {
        mesh.turn(true);
        record = mesh.of(peer).record(call);
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
      return mesh.of(peer).published();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isClosed(int peer) {
    lock.lock();
    try {
      return mesh.of(peer).hasSaidGoodbye();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean enter(long call) {
    return !mesh.latch().isTripped();
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
      Connection connection = mesh.of(peer);
      Outbound outbound = connection.outbound();
      if (connection.isShut() || mesh.isAbandoned() || !outbound.hasSlot()) {
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
        mesh.turn(true);
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
      if (mesh.isBorrowing()) {
        mesh.turn(true);
      }
      return !mesh.isBorrowing();
    } finally {
      lock.unlock();
    }
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
      mesh.abandon();
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

  /** The listener's thread, now and then: does the task's part while the task is elsewhere. */
  void tick(long nowNs) {
    if (!lock.tryLock()) {
      return;
    }
    try {
      mesh.tick(nowNs);
    } finally {
      lock.unlock();
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
      for (Connection connection : mesh.all()) {
        sent += connection.outbound().writtenBytes();
        received += connection.inbound().readBytes();
        elements += connection.inbound().elementBytes();
        copied += connection.inbound().copiedBytes();
        landed += connection.inbound().landedBytes();
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
      if (!mesh.end()) {
        return;
      }
      landing = null;
    } finally {
      lock.unlock();
    }
    ByteBuffer scratch = listener.pool().take(options.chunkBytes());
    new Parting(mesh, lock).linger(scratch);
    listener.pool().give(scratch);
    lock.lock();
    try {
      mesh.shut();
      arrived.forEach(TcpDelivery::release);
      arrived.clear();
    } finally {
      lock.unlock();
    }
    listener.unwatch(this);
  }

  /** What one connection's frames mean for the group. */
  private final class Ear implements Inbound.Receiver {
    private final Connection connection;

    Ear(Connection connection) {
      this.connection = connection;
    }

    @Override
    public View placeOf(DeliveryTag tag) {
      return mesh.isTaskTurn() && landing != null ? landing.placeOf(connection.peer(), tag) : null;
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
      connection.onPublished(CallWords.header(number, message));
    }

    @Override
    public void onAbort(AbortMessage message) {
      mesh.onAbort(message);
    }

    @Override
    public void onGoodbye() {
      connection.onGoodbye();
    }
  }
}
