// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.Arrays;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceScratch;
import org.rankfold.errors.CollectiveException;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.fold.cuda.PlacedFold;
import org.rankfold.transport.DeviceExchange;

/**
 * What calls over device memory work with: the exchange, a stream that moves and one that folds,
 * and scratch. One call at a time.
 */
final class DeviceLane implements AutoCloseable {
  /** The most scratch kept for addends of peers on their way to the fold. */
  private static final long SCRATCH_BYTES = 8L << 30;

  private final DeviceExchange exchange;
  private final CudaFold fold;
  private final CudaStream moving;
  private final CudaStream folding;
  private final CudaEvent done;
  private final DeviceScratch scratch;
  private CollectiveException stuck;

  DeviceLane(DeviceExchange exchange) {
    CudaDevice device = exchange.device();
    this.exchange = exchange;
    this.fold = PlacedFold.on(device);
    this.moving = CudaStream.create(device);
    this.folding = CudaStream.create(device);
    this.done = CudaEvent.create(device);
    this.scratch = new DeviceScratch(device, SCRATCH_BYTES);
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

  DeviceScratch scratch() {
    return scratch;
  }

  CudaEvent event() {
    return CudaEvent.create(exchange.device());
  }

  /** Waits for all that the moving stream was given, looking after the exchange's own errors. */
  void awaitMoved(Call call, Await await, EngineSettings settings) {
    done.record(moving);
    await.until(
        () -> {
          exchange.check();
          return done.isDone();
        },
        settings.collectiveTimeoutNs(),
        () -> call.header().describe() + ": the device is not done; a peer may not have come");
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
      scratch.close();
      done.close();
      moving.close();
      folding.close();
    }
  }
}
