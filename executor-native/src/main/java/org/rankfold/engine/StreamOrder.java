// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.function.Supplier;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;

/**
 * A call's place in a stream of its caller: behind what the stream was given before, and before
 * what it is given afterwards. One event serves both: first it says that the memory is ready, then,
 * recorded anew, that the call is done.
 */
final class StreamOrder implements AutoCloseable {
  private final CudaStream caller;
  private final CudaEvent event;
  private boolean isReady;
  private boolean isEnqueued;

  /** Marks where the caller's stream is now. */
  StreamOrder(CudaStream caller) {
    this.caller = caller;
    this.event = CudaEvent.create(caller.device());
    event.record(caller);
  }

  /** Waits on the host, for a call whose memory is not moved in the order of streams. */
  void awaitReady(Supplier<String> what, Await await, EngineSettings settings) {
    if (!isReady) {
      await.until(
          event::isDone,
          settings.collectiveTimeoutNs(),
          () -> what.get() + ": the caller's stream is not done with the memory");
      isReady = true;
    }
  }

  /** Lets a stream of the engine go on only when the memory is ready. */
  void beginOn(CudaStream own) {
    own.waitFor(event);
  }

  /** Lets the caller's stream go on only when the engine's has come so far. */
  void endBehind(CudaStream own) {
    event.record(own);
    caller.waitFor(event);
    isEnqueued = true;
  }

  CudaStream caller() {
    return caller;
  }

  /** Whether the call ends on the device; else it ended before it returned. */
  boolean isEnqueued() {
    return isEnqueued;
  }

  /** Whether the device has come behind the latest mark. */
  boolean isDone() {
    return event.isDone();
  }

  @Override
  public void close() {
    event.close();
  }
}
