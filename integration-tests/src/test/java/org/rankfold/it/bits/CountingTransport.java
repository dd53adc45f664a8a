// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bits;

import java.util.concurrent.atomic.AtomicLong;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.PairPath;
import org.rankfold.transport.Transport;
import org.rankfold.view.View;

/** A transport that counts the bytes of the elements it takes for others. */
final class CountingTransport implements Transport {
  private final Transport real;
  private final AtomicLong bytes;

  CountingTransport(Transport real, AtomicLong bytes) {
    this.real = real;
    this.bytes = bytes;
  }

  @Override
  public boolean offer(int peer, DeliveryTag tag, View source) {
    boolean taken = real.offer(peer, tag, source);
    if (taken) {
      bytes.addAndGet(source.byteCount());
    }
    return taken;
  }

  @Override
  public String name() {
    return real.name();
  }

  @Override
  public PairPath path(int peer, CallRecord own, CallRecord theirs) {
    return real.path(peer, own, theirs);
  }

  @Override
  public int localTasks() {
    return real.localTasks();
  }

  @Override
  public AbortLatch abortLatch() {
    return real.abortLatch();
  }

  @Override
  public void publish(CallRecord record) {
    real.publish(record);
  }

  @Override
  public CallRecord recordOf(int peer, long call) {
    return real.recordOf(peer, call);
  }

  @Override
  public long lastPublished(int peer) {
    return real.lastPublished(peer);
  }

  @Override
  public boolean isClosed(int peer) {
    return real.isClosed(peer);
  }

  @Override
  public boolean enter(long call) {
    return real.enter(call);
  }

  @Override
  public void leave(long call, boolean completed) {
    real.leave(call, completed);
  }

  @Override
  public boolean hasCompleted(int peer, long call) {
    return real.hasCompleted(peer, call);
  }

  @Override
  public boolean hasLeft(int peer, long call) {
    return real.hasLeft(peer, call);
  }

  @Override
  public boolean isInside(int peer) {
    return real.isInside(peer);
  }

  @Override
  public long lastEntered(int peer) {
    return real.lastEntered(peer);
  }

  @Override
  public Delivery poll() {
    return real.poll();
  }

  @Override
  public boolean isFlushed() {
    return real.isFlushed();
  }

  @Override
  public boolean stagesAll() {
    return real.stagesAll();
  }

  @Override
  public void close() {
    real.close();
  }
}
