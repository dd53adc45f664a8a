// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;

/** The last mark on each stream that was given work: what an orderly end has to wait for. */
final class StreamMarks implements AutoCloseable {
  /** Beyond so many streams those that are done are forgotten. */
  private static final int MANY = 16;

  private final CudaDevice device;
  private final IdentityHashMap<CudaStream, CudaEvent> last = new IdentityHashMap<>();

  StreamMarks(CudaDevice device) {
    this.device = device;
  }

  synchronized void mark(CudaStream stream) {
    CudaEvent event = last.get(stream);
    if (event == null) {
      if (last.size() >= MANY) {
        forgetDone();
      }
      event = CudaEvent.create(device);
      last.put(stream, event);
    }
    event.record(stream);
  }

  void await(Deadline deadline, AbortLatch latch) {
    List<CudaEvent> events;
    synchronized (this) {
      events = new ArrayList<>(last.values());
    }
    for (CudaEvent event : events) {
      event.await(deadline, latch);
    }
  }

  private void forgetDone() {
    last.values()
        .removeIf(
            event -> {
              boolean isDone = event.isDone();
              if (isDone) {
                event.close();
              }
              return isDone;
            });
  }

  @Override
  public synchronized void close() {
    last.values().forEach(CudaEvent::close);
    last.clear();
  }
}
