// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.deadline.AbortLatch;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;
import org.rankfold.liveness.ProcessPoison;

/**
 * A call that was enqueued in the order of its caller's stream and goes on on the device.
 * Thread-safe.
 */
public final class StreamCall {
  private final DeviceLane lane;
  private final StreamOrder order;
  private final String what;
  private final AbortLatch latch;
  private final ProcessPoison poison;
  private boolean isEnded;
  private CollectiveException failure;

  StreamCall(
      DeviceLane lane, StreamOrder order, String what, AbortLatch latch, ProcessPoison poison) {
    this.lane = lane;
    this.order = order;
    this.what = what;
    this.latch = latch;
    this.poison = poison;
  }

  /**
   * Blocks until the device is done with the call, the group is lost or the collective timeout has
   * passed; in the latter two cases the group ends, and the device lets go of the memory first.
   *
   * @throws CollectiveException as the blocking call would, each time; CANCELLED when the thread is
   *     interrupted, while the call goes on
   */
  public synchronized void await() {
    if (!isEnded) {
      try {
        lane.await(order::isDone, what);
        end(null);
      } catch (CollectiveException e) {
        if (e.code() == ErrorCode.CANCELLED && Thread.currentThread().isInterrupted()) {
          throw e;
        }
        end(lose(e));
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Whether the device is done with the call; of a lost group, only once somebody awaited the call
   * or the communicator is closed.
   *
   * @return true once the call's memory is the caller's again
   */
  public synchronized boolean isDone() {
    if (!isEnded && !latch.isTripped() && order.isDone()) {
      end(null);
    }
    return isEnded;
  }

  /** The lane ends: nothing of the call is on the device any more. */
  synchronized void onClosed() {
    if (!isEnded) {
      CollectiveException cause = latch.cause();
      end(cause == null ? null : lost(cause));
    }
  }

  private void end(CollectiveException failureOrNull) {
    failure = failureOrNull;
    isEnded = true;
    order.close();
  }

  private CollectiveException lose(CollectiveException found) {
    CollectiveException own =
        found.category() == ErrorCategory.USAGE
            ? new CollectiveException(ErrorCode.INTERNAL, what + ": " + found.getMessage(), found)
            : found;
    CollectiveException first = latch.trip(own);
    if (lane.letGo()) {
      return lost(first);
    }
    CollectiveException fatal =
        new CollectiveException(
            ErrorCode.MEMORY_STILL_BORROWED,
            what + ": the device does not let go of the memory; output unknown",
            OutState.NOT_APPLICABLE,
            first);
    poison.poison(fatal);
    return fatal;
  }

  private CollectiveException lost(CollectiveException first) {
    return new CollectiveException(
        first.code(),
        what + " ended, output " + OutState.PARTLY_WRITTEN + ": " + first.getMessage(),
        OutState.PARTLY_WRITTEN,
        first);
  }
}
