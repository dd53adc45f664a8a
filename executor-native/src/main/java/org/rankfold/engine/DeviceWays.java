// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.transport.cudapeer.PeerReach;
import org.rankfold.view.View;

/**
 * The ways that calls over device memory may go beside the transport's own: where all tasks reach
 * it, and by an exchange. Which of them serves a call follows from all tasks' headers.
 */
final class DeviceWays {
  private final RankTable table;
  private final int task;
  private final Await await;
  private final EngineSettings settings;
  private final AbortLatch latch;
  private DeviceLane exchanging;
  private PeerLane reaching;
  private StreamOrder order;

  DeviceWays(RankTable table, int task, Await await, EngineSettings settings, AbortLatch latch) {
    this.table = table;
    this.task = task;
    this.await = await;
    this.settings = settings;
    this.latch = latch;
  }

  void attach(DeviceExchange exchange) {
    exchanging = new DeviceLane(exchange, await, settings, latch);
  }

  void attach(PeerReach reach) {
    reaching = new PeerLane(reach, table, task, await, settings);
  }

  /**
   * Makes a call in the order of a stream, as far as the way that serves it can.
   *
   * @return what goes on on the device, or null when the call is done
   */
  StreamCall onStream(
      CudaStream stream, Runnable call, Supplier<String> what, ProcessPoison poison) {
    StreamOrder placed = new StreamOrder(stream);
    try {
      if (exchanging != null) {
        exchanging.order(placed);
      }
      order = placed;
      call.run();
      return placed.isEnqueued() ? exchanging.remember(placed, what.get(), poison) : null;
    } finally {
      order = null;
      if (exchanging != null) {
        exchanging.order(null);
      }
      if (!placed.isEnqueued()) {
        placed.close();
      }
    }
  }

  /**
   * Waits on the host until the stream of the call's caller has come to it, if there is one: for
   * what is not moved in the order of streams.
   */
  void awaitCaller(Supplier<String> what) {
    if (order != null) {
      order.awaitReady(what, await, settings);
    }
  }

  /** What follows the transport's name. */
  String names() {
    return (reaching == null ? "" : '+' + reaching.reach().name())
        + (exchanging == null ? "" : '+' + exchanging.exchange().name());
  }

  /**
   * Makes a request's memory ready.
   *
   * @return what the header says of it
   */
  int prepare(CallRequest request) {
    if (reaching != null) {
      awaitCaller(() -> "before the next call");
      try {
        return reaching.prepare(request);
      } catch (CollectiveException e) {
        if (e.code() != ErrorCode.TOO_LITTLE_MEMORY) {
          throw e;
        }
      }
    }
    return request.isOnDevice() ? CallHeader.ON_DEVICE : CallHeader.ON_HOST;
  }

  /** Whether some way takes the call, as far as this task knows. */
  boolean mayServe(Call call) {
    return (exchanging != null && call.header().onDevice())
        || call.header().memory() >= CallHeader.UNTOLD;
  }

  /** Whether tasks have to tell where memory lies before the call can be made. */
  boolean hasToBeTold(Call call) {
    return reaching != null && reaching.serves(call) && reaching.hasToBeTold(call);
  }

  /** What serves the call, or null when the transport does. */
  CallBody body(Call call) {
    if (reaching != null && reaching.serves(call)) {
      return reaching.body();
    }
    if (exchanging == null || !exchanging.serves(call)) {
      return null;
    }
    return exchanging.body(call);
  }

  /**
   * Tells all tasks where this one's memory lies, and hears of theirs.
   *
   * @param gather makes a gathering of the group, as a call of its own
   */
  void tell(Consumer<CallRequest> gather) {
    long[] own = reaching.row();
    // A task's words are spread over its logical ranks' rows, of which it has at least so many.
    int part = (own.length - 1) / (table.world() / table.tasks()) + 1;
    List<View> rows = new ArrayList<>();
    for (int r = 0; r < table.rankCount(task); r++) {
      int from = Math.min(own.length, r * part);
      rows.add(View.of(Arrays.copyOf(Arrays.copyOfRange(own, from, own.length), part)));
    }
    long[] all = new long[table.world() * part];
    gather.accept(CallRequest.allGather(table, task, rows, View.of(all)));
    long[][] heard = new long[table.tasks()][];
    for (int peer = 0; peer < heard.length; peer++) {
      int from = table.firstRank(peer) * part;
      heard[peer] = Arrays.copyOfRange(all, from, from + own.length);
    }
    reaching.reach().heard(heard);
  }

  /**
   * Takes leave of peers that reach this task's memory, where there are any: lets go of theirs,
   * says so, and frees its own when they have done the same.
   *
   * @param number of the last call, which says so
   */
  void part(Transport transport, Headers headers, long number) {
    if (reaching == null) {
      return;
    }
    boolean isUnmapped = reaching.unmap();
    if (isUnmapped) {
      CallRequest last = CallRequest.parting();
      transport.publish(last.record(number, settings.chunkBytes(), CallHeader.ON_HOST));
    }
    reaching.reach().free(isUnmapped && headers.awaitParting(settings.exitTimeoutNs()));
  }

  void closeExchange() {
    if (exchanging != null) {
      exchanging.close();
    }
  }
}
