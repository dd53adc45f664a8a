// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineProgress;
import org.rankfold.engine.StreamCall;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.memory.Arena;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.transport.cudapeer.PeerReach;
import org.rankfold.view.View;

/**
 * A communicator over an engine: a blocking call runs on the caller's thread unless asynchronous
 * ones are under way; then it queues behind them.
 */
final class EngineCommunicator implements Communicator {
  private static final int NO_DEVICE = -1;

  /** Less is copied sooner than it pays to map it: a mapping takes pages of 2 MiB. */
  private static final long LEAST_SHARED_BYTES = 64L << 10;

  private final Engine engine;
  private final AtomicReference<Thread> caller = new AtomicReference<>();
  private volatile CommunicatorInfo info;
  private volatile int device = NO_DEVICE;
  private volatile PeerReach reach;
  private volatile CallQueue queue;
  private volatile boolean closed;

  EngineCommunicator(Engine engine, CommunicatorInfo info) {
    this.engine = engine;
    this.info = info;
  }

  Engine engine() {
    return engine;
  }

  /** The device that memory comes from. */
  void use(CudaDevice newDevice) {
    device = newDevice.info().ordinal();
  }

  /** Moves device memory by an exchange from the next call on. */
  void attach(DeviceExchange exchange) {
    engine.attach(exchange);
    info = info.withTransport(engine.transportName());
  }

  /** Reads and writes device memory where it lies from the next call on. */
  void attach(PeerReach newReach) {
    engine.attach(newReach);
    reach = newReach;
    info = info.withTransport(engine.transportName());
  }

  EngineProgress progress() {
    return engine.progress();
  }

  @Override
  public CommunicatorInfo info() {
    return info;
  }

  @Override
  public void allReduce(ReduceOp op, FoldOrder order, List<View> addends, View out) {
    call(() -> engine.allReduce(op, order, addends, out));
  }

  @Override
  public CollectiveHandle allReduceAsync(
      ReduceOp op, FoldOrder order, List<View> addends, View out) {
    return enqueue(() -> engine.allReduce(op, order, addends, out));
  }

  @Override
  public void reduceScatter(ReduceOp op, FoldOrder order, List<View> addends, List<View> outs) {
    call(() -> engine.reduceScatter(op, order, addends, outs));
  }

  @Override
  public CollectiveHandle reduceScatterAsync(
      ReduceOp op, FoldOrder order, List<View> addends, List<View> outs) {
    return enqueue(() -> engine.reduceScatter(op, order, addends, outs));
  }

  @Override
  public void allGather(List<View> rows, View out) {
    call(() -> engine.allGather(rows, out));
  }

  @Override
  public CollectiveHandle allGatherAsync(List<View> rows, View out) {
    return enqueue(() -> engine.allGather(rows, out));
  }

  @Override
  public void broadcast(int root, View buffer) {
    call(() -> engine.broadcast(root, buffer));
  }

  @Override
  public CollectiveHandle broadcastAsync(int root, View buffer) {
    return enqueue(() -> engine.broadcast(root, buffer));
  }

  @Override
  public void barrier() {
    call(engine::barrier);
  }

  @Override
  public StreamCommunicator onStream(CudaStream stream) {
    requireDevice();
    if (stream.device().info().ordinal() != device) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "stream of %s != device=%d of task %d",
          stream.device().name(),
          device,
          info.task());
    }
    return new StreamCalls(
        engine,
        work -> {
          StreamCall[] made = new StreamCall[1];
          call(() -> made[0] = engine.onStream(stream, work));
          return made[0];
        });
  }

  private void requireDevice() {
    if (device == NO_DEVICE) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "task %d has no device in its group: spark.rankfold.device=gpu gives it one",
          info.task());
    }
  }

  private void call(Runnable work) {
    claim();
    try {
      CallQueue behind = queue;
      if (behind == null || behind.isIdle()) {
        work.run();
      } else {
        behind.run(work, engine::abort);
      }
    } finally {
      caller.set(null);
    }
  }

  private CollectiveHandle enqueue(Runnable work) {
    claim();
    try {
      if (queue == null) {
        queue = new CallQueue(info.task());
      }
      return queue.add(work);
    } finally {
      caller.set(null);
    }
  }

  private void claim() {
    if (closed) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the communicator is closed");
    }
    Thread self = Thread.currentThread();
    Thread other = caller.compareAndExchange(null, self);
    if (other != null) {
      throw CollectiveException.usage(
          ErrorCode.WRONG_THREAD,
          "thread=%s calls while thread=%s is in a call: one thread at a time",
          self.getName(),
          other.getName());
    }
  }

  @Override
  public Arena allocate(DType dtype, long count) {
    return engine.allocate(dtype, count);
  }

  @Override
  public DeviceBuffer allocateOnDevice(DType dtype, long count) {
    requireDevice();
    PeerReach shared = reach;
    long bytes = DeviceBuffer.bytes(dtype, count);
    if (shared == null || bytes < LEAST_SHARED_BYTES) {
      return DeviceBuffer.allocate(device, dtype, count);
    }
    PeerReach.Stretch stretch = shared.allocate(bytes);
    return DeviceBuffer.lend(stretch.memory(), dtype, count, () -> shared.giveBack(stretch));
  }

  @Override
  public void register(DeviceBuffer buffer) {
    PeerReach shared = reach;
    if (shared != null && buffer.count() > 0) {
      shared.register(buffer.view());
    }
  }

  @Override
  public void checkAbort() {
    CollectiveException first = engine.failure();
    if (first != null) {
      throw new CollectiveException(first.code(), first.getMessage(), first);
    }
  }

  @Override
  public void abort(Throwable cause) {
    engine.abort(cause);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (caller.get() != null) {
      engine.abort(
          new CollectiveException(
              ErrorCode.CANCELLED, "task " + info.task() + " closed its communicator in a call"));
    }
    if (queue != null) {
      queue.close();
    }
    engine.close();
  }
}
