// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.view.DeviceView;

/**
 * One task's side: it offers what it sends, then copies what peers offer, on its own stream behind
 * the peer's; and its stream goes on behind the peers' copies. Only the offers are waited for on
 * the host.
 */
final class CopyExchange implements DeviceExchange {
  private record Copy(Offer offer, DeviceView place) {}

  private static final int SPINS = 1000;
  private static final long PARK_NS = 20_000;

  private final CopyHub hub;
  private final int task;
  private final CudaDevice device;
  private final long timeoutNs;
  private final AbortLatch latch;
  private final Random random;
  private long copies;
  private volatile boolean isAborted;

  CopyExchange(CopyHub hub, int task, CudaDevice device, long timeoutNs, AbortLatch latch) {
    this.hub = hub;
    this.task = task;
    this.device = device;
    this.timeoutNs = timeoutNs;
    this.latch = latch;
    this.random = new Random(hub.options().seed() + task);
  }

  @Override
  public String name() {
    return "copy";
  }

  @Override
  public CudaDevice device() {
    return device;
  }

  @Override
  public void exchange(List<Move> sends, List<Move> receives, CudaStream on) {
    requireOpen();
    List<Offer> offers = new ArrayList<>();
    for (Move send : sends) {
      CudaEvent ready = CudaEvent.create(device);
      ready.record(on);
      offers.add(new Offer(send.view(), ready));
      hub.lane(task, send.peer()).add(offers.get(offers.size() - 1));
    }
    List<Copy> wanted = new ArrayList<>();
    for (Move receive : receives) {
      wanted.add(new Copy(offerOf(receive), receive.view()));
    }
    arrange(wanted);
    for (Copy copy : wanted) {
      enqueue(copy, on);
    }
    for (Offer offer : offers) {
      await(offer::isTaken, "a peer to copy");
      on.waitFor(offer.copied());
      offer.close();
    }
  }

  private Offer offerOf(Move receive) {
    Offer[] found = new Offer[1];
    await(
        () -> (found[0] = hub.lane(receive.peer(), task).poll()) != null,
        "task " + receive.peer() + " to offer " + receive.view());
    if (found[0].view().byteCount() != receive.view().byteCount()) {
      throw new CollectiveException(
          ErrorCode.PROTOCOL,
          "task "
              + receive.peer()
              + " offers "
              + found[0].view()
              + " != "
              + receive.view()
              + " of task "
              + task);
    }
    return found[0];
  }

  private void arrange(List<Copy> wanted) {
    switch (hub.options().order()) {
      case ASCENDING -> {}
      case DESCENDING -> Collections.reverse(wanted);
      case SHUFFLED -> Collections.shuffle(wanted, random);
    }
  }

  private void enqueue(Copy copy, CudaStream on) {
    on.waitFor(copy.offer().ready());
    if (++copies != hub.options().droppedCopy()) {
      on.copy(copy.offer().view(), copy.place());
    }
    CudaEvent copied = CudaEvent.create(device);
    copied.record(on);
    copy.offer().take(copied);
  }

  @Override
  public void allGather(DeviceView part, DeviceView whole, CudaStream on) {
    long count = part.count();
    DeviceView own = whole.slice(task * count, count);
    if (!own.isSameStretchAs(part)) {
      on.copy(part, own);
    }
    int tasks = (int) (count == 0 ? 1 : whole.count() / count);
    List<Move> sends = new ArrayList<>();
    List<Move> receives = new ArrayList<>();
    for (int peer = 0; peer < tasks; peer++) {
      if (peer != task) {
        sends.add(new Move(peer, part));
        receives.add(new Move(peer, whole.slice(peer * count, count)));
      }
    }
    exchange(sends, receives, on);
  }

  private void await(BooleanSupplier condition, String what) {
    Deadline deadline = Deadline.after(System.nanoTime(), timeoutNs);
    for (long looks = 0; !condition.getAsBoolean(); looks++) {
      requireOpen();
      CollectiveException cause = latch.cause();
      if (cause != null) {
        throw cause;
      }
      if (deadline.isExpired(System.nanoTime())) {
        throw new CollectiveException(
            ErrorCode.TIMEOUT,
            String.format(
                Locale.ROOT, "task %d waited %.1f s for %s", task, deadline.budgetSeconds(), what));
      }
      if (looks < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PARK_NS);
      }
    }
  }

  private void requireOpen() {
    if (isAborted) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the exchange of task %d was ended", task);
    }
  }

  /** Nothing to look for: copies fail with the device, and waits see the latch. */
  @Override
  public void check() {}

  @Override
  public void abort() {
    isAborted = true;
  }

  @Override
  public void close() {
    isAborted = true;
  }
}
