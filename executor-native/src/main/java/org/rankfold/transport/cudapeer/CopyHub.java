// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.rankfold.InternalApi;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.transport.DeviceExchange;

/** Where the tasks of one process offer each other device memory. Thread-safe. */
@InternalApi
public final class CopyHub {
  private final int tasks;
  private final CopyOptions options;
  private final List<ConcurrentLinkedQueue<Offer>> lanes = new ArrayList<>();

  /**
   * A hub nobody has joined.
   *
   * @param tasks how many will join
   * @param options in which order copies are enqueued, and what goes wrong
   */
  public CopyHub(int tasks, CopyOptions options) {
    this.tasks = tasks;
    this.options = options;
    for (int lane = 0; lane < tasks * tasks; lane++) {
      lanes.add(new ConcurrentLinkedQueue<>());
    }
  }

  /**
   * A task's exchange.
   *
   * @param task from 0
   * @param device the task's
   * @param timeoutNs how long a peer's side of a movement may take to come
   * @param latch ends such waits with its cause
   * @return the exchange, owned by the caller
   */
  public DeviceExchange join(int task, CudaDevice device, long timeoutNs, AbortLatch latch) {
    return new CopyExchange(this, task, device, timeoutNs, latch);
  }

  ConcurrentLinkedQueue<Offer> lane(int from, int to) {
    return lanes.get(from * tasks + to);
  }

  CopyOptions options() {
    return options;
  }
}
