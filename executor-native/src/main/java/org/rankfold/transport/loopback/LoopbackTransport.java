// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import org.rankfold.deadline.AbortLatch;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.Delivery;
import org.rankfold.transport.DeliveryTag;
import org.rankfold.transport.PairPath;
import org.rankfold.transport.Transport;
import org.rankfold.view.View;

/** A task's side of a {@link LoopbackHub}. */
final class LoopbackTransport implements Transport {
  private final LoopbackHub hub;
  private final int task;
  private final Seat seat;
  private final AddendSorter sorter;

  LoopbackTransport(LoopbackHub hub, int task) {
    this.hub = hub;
    this.task = task;
    this.seat = hub.seat(task);
    int addends = 0;
    for (int peer = 0; peer < hub.table().tasks(); peer++) {
      if (peer != task && hub.path(task, peer) == PairPath.STAGED) {
        addends += hub.table().rankCount(peer);
      }
    }
    this.sorter = new AddendSorter(hub.options().deliveryOrder(), addends);
  }

  @Override
  public String name() {
    return "loopback";
  }

  @Override
  public PairPath path(int peer, CallRecord own, CallRecord theirs) {
    return hub.path(task, peer);
  }

  @Override
  public String pathName() {
    return hub.options().pathRule().label();
  }

  @Override
  public int localTasks() {
    return hub.table().tasks();
  }

  @Override
  public AbortLatch abortLatch() {
    return hub.latch();
  }

  @Override
  public void publish(CallRecord record) {
    seat.publish(record);
  }

  @Override
  public CallRecord recordOf(int peer, long call) {
    return hub.seat(peer).record(call);
  }

  @Override
  public long lastPublished(int peer) {
    return hub.seat(peer).published();
  }

  @Override
  public boolean isClosed(int peer) {
    return hub.seat(peer).isClosed();
  }

  @Override
  public boolean enter(long call) {
    seat.enter(call);
    if (hub.latch().isTripped()) {
      seat.leave(call, false);
      return false;
    }
    return true;
  }

  @Override
  public void leave(long call, boolean completed) {
    seat.leave(call, completed);
  }

  @Override
  public boolean hasCompleted(int peer, long call) {
    return hub.seat(peer).hasCompleted(call);
  }

  @Override
  public boolean hasLeft(int peer, long call) {
    return hub.seat(peer).hasLeft(call);
  }

  @Override
  public boolean isInside(int peer) {
    return hub.seat(peer).isInside();
  }

  @Override
  public long lastEntered(int peer) {
    return hub.seat(peer).entered();
  }

  @Override
  public boolean knowsWhoIsInside() {
    return true;
  }

  @Override
  public boolean offer(int peer, DeliveryTag tag, View source) {
    return hub.lane(task, peer).offer(tag, source);
  }

  @Override
  public Delivery poll() {
    Slot sorted = sorter.poll();
    for (int peer = 0; sorted == null && peer < hub.table().tasks(); peer++) {
      if (peer == task || hub.path(task, peer) == PairPath.MAPPED) {
        continue;
      }
      Slot arrived = hub.lane(peer, task).poll();
      if (arrived != null) {
        sorter.accept(arrived);
        sorted = sorter.poll();
      }
    }
    return sorted;
  }

  @Override
  public boolean stagesAll() {
    return hub.options().pathRule() == PathRule.STAGED
        && hub.options().deliveryOrder().kind() == DeliveryOrder.Kind.ARRIVAL;
  }

  @Override
  public boolean isFlushed() {
    return true;
  }

  @Override
  public void close() {
    seat.close();
  }
}
