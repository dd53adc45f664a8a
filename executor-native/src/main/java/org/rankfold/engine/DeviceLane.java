// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.cuda.DeviceScratch;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.fold.cuda.PlacedFold;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.transport.DeviceExchange;

/**
 * What calls over device memory work with: the exchange, a stream that moves and one that folds,
 * their events, and scratch. One call at a time is enqueued, behind those that are still on the
 * device; waiting and letting go may be done by any thread.
 */
final class DeviceLane implements AutoCloseable {
  /** The most scratch kept for addends of peers on their way to the fold. */
  private static final long SCRATCH_BYTES = 8L << 30;

  private static final int ALIGNMENT_BYTES = 256;

  /** Beyond so many calls on the device those that are done are forgotten. */
  private static final int MANY = 16;

  private final DeviceExchange exchange;
  private final Await await;
  private final EngineSettings settings;
  private final AbortLatch latch;
  private final CudaFold fold;
  private final CudaStream moving;
  private final CudaStream folding;
  private final CudaEvent[] arrived = new CudaEvent[2];
  private final CudaEvent[] folded = new CudaEvent[2];
  private final CudaEvent done;
  private final DeviceScratch scratch;
  private final List<StreamCall> pending = new ArrayList<>();
  private DeviceScratch.Block room;
  private StreamOrder order;
  private volatile CollectiveException stuck;

  DeviceLane(DeviceExchange exchange, Await await, EngineSettings settings, AbortLatch latch) {
    CudaDevice device = exchange.device();
    this.exchange = exchange;
    this.await = await;
    this.settings = settings;
    this.latch = latch;
    this.fold = PlacedFold.on(device);
    this.moving = CudaStream.create(device);
    this.folding = CudaStream.create(device);
    this.done = CudaEvent.create(device);
    for (int i = 0; i < arrived.length; i++) {
      arrived[i] = CudaEvent.create(device);
      folded[i] = CudaEvent.create(device);
    }
    this.scratch = new DeviceScratch(device, SCRATCH_BYTES);
  }

  /** Bytes rounded up, so that what lies behind them is as well aligned as an allocation. */
  static long aligned(long bytes) {
    return (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
  }

  /** What the call does. */
  CallBody body(Call call) {
    if (call.header().contract() == null) {
      return new DeviceMoveCall(this);
    }
    PartialPlan plan = PartialPlan.ofDevices(call.header(), call.table, settings);
    return plan == PartialPlan.CHAIN
        ? new DeviceChainCall(this, await)
        : new DeviceFoldCall(this, await, plan);
  }

  DeviceExchange exchange() {
    return exchange;
  }

  CudaFold fold() {
    return fold;
  }

  CudaStream moving() {
    return moving;
  }

  CudaStream folding() {
    return folding;
  }

  /** Marks what a round or step brought; two in a row are told apart. */
  CudaEvent arrived(int round) {
    return arrived[Math.floorMod(round, arrived.length)];
  }

  /** Marks what a round or step folded; two in a row are told apart. */
  CudaEvent folded(int round) {
    return folded[Math.floorMod(round, folded.length)];
  }

  /**
   * Scratch for the call: the same for call after call, since {@link #begin} keeps them apart, and
   * another when one needs more.
   */
  DeviceMemory room(long bytes) {
    if (room == null || room.memory().bytes() < bytes) {
      if (room != null) {
        room.giveBackBehind(moving);
        room = null;
      }
      Deadline deadline = Deadline.after(System.nanoTime(), settings.collectiveTimeoutNs());
      room = scratch.take(bytes, deadline, latch);
    }
    return room.memory();
  }

  /** Puts the calls that come into the order of a stream; null puts them into none. */
  void order(StreamOrder newOrder) {
    if (newOrder != null && newOrder.caller().device() != exchange.device()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "stream of %s != device=%s of the task",
          newOrder.caller().device().name(),
          exchange.device().name());
    }
    order = newOrder;
  }

  /**
   * Holds the folding stream back until the call before has ended, and both until the caller's
   * stream has come to the call.
   */
  void begin() {
    folding.waitFor(done);
    if (order != null) {
      order.beginOn(moving);
      order.beginOn(folding);
    }
  }

  /**
   * Ends a call whose last work the moving stream was given: waits for it, or lets the caller's
   * stream wait.
   */
  void finish(Call call) {
    done.record(moving);
    if (order != null) {
      order.endBehind(moving);
      return;
    }
    await(done::isDone, call.header().describe());
  }

  /** Remembers a call that goes on on the device. */
  StreamCall remember(StreamOrder itsOrder, String what, ProcessPoison poison) {
    if (pending.size() >= MANY) {
      pending.removeIf(StreamCall::isDone);
    }
    StreamCall call = new StreamCall(this, itsOrder, what, latch, poison);
    pending.add(call);
    return call;
  }

  /** Waits for the device, looking after the exchange's own errors. */
  void await(BooleanSupplier isDone, String what) {
    await.until(
        () -> {
          exchange.check();
          return isDone.getAsBoolean();
        },
        settings.collectiveTimeoutNs(),
        () -> what + ": the device is not done; a peer may not have come");
  }

  /** Ends what is on the device; false when it does not let go within the exit timeout. */
  boolean letGo() {
    abort();
    return await.quietlyUntil(this::isIdle, settings.exitTimeoutNs());
  }

  /** Makes the device let go of a failed call's memory. */
  void abort() {
    try {
      exchange.abort();
    } catch (CollectiveException e) {
      stuck = e;
    }
  }

  /** Whether no work of a call is left on the device; what failed has ended too. */
  boolean isIdle() {
    if (stuck != null) {
      return false;
    }
    try {
      return moving.isDone() && folding.isDone();
    } catch (CollectiveException e) {
      return true;
    }
  }

  /** Whether every pair of tasks can move device memory in this call. */
  boolean serves(Call call) {
    return Arrays.stream(call.records).allMatch(record -> record.header().onDevice());
  }

  @Override
  public void close() {
    exchange.close();
    if (isIdle()) {
      pending.forEach(StreamCall::onClosed);
      if (room != null) {
        room.giveBackBehind(moving);
      }
      scratch.close();
      done.close();
      for (int i = 0; i < arrived.length; i++) {
        arrived[i].close();
        folded[i].close();
      }
      moving.close();
      folding.close();
    }
  }
}
