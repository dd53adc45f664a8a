// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.CallRecord;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;

/** Whose headers of a call have come. */
final class Headers {
  private final RankTable table;
  private final int task;
  private final Transport transport;
  private final Await await;
  private final EngineSettings settings;

  Headers(RankTable table, int task, Transport transport, Await await, EngineSettings settings) {
    this.table = table;
    this.task = task;
    this.transport = transport;
    this.await = await;
    this.settings = settings;
  }

  /** Waits until every peer's record of a call is there. */
  void await(Call call) {
    for (int peer = 0; peer < table.tasks(); peer++) {
      if (peer != task) {
        int awaited = peer;
        await.until(
            () -> has(call, awaited),
            settings.collectiveTimeoutNs(),
            () -> {
              collect(call);
              return call.missing();
            });
      }
    }
  }

  private boolean has(Call call, int peer) {
    CallRecord record = transport.recordOf(peer, call.number());
    if (record == null) {
      if (transport.isClosed(peer) && transport.lastPublished(peer) < call.number()) {
        throw new CollectiveException(
            ErrorCode.PEER_FAILED,
            call.header().describe()
                + ": "
                + table.describe(peer)
                + " closed its communicator after call #"
                + transport.lastPublished(peer));
      }
      return false;
    }
    call.records[peer] = record;
    return true;
  }

  private void collect(Call call) {
    for (int peer = 0; peer < table.tasks(); peer++) {
      if (call.records[peer] == null) {
        call.records[peer] = transport.recordOf(peer, call.number());
      }
    }
  }

  /**
   * Waits, whatever the latch says, until every peer has said its last call or is gone.
   *
   * @return false when the time was over before
   */
  boolean awaitParting(long timeoutNs) {
    return await.quietlyUntil(
        () -> {
          for (int peer = 0; peer < table.tasks(); peer++) {
            if (peer != task && !transport.isGone(peer) && !hasParted(peer)) {
              return false;
            }
          }
          return true;
        },
        timeoutNs);
  }

  private boolean hasParted(int peer) {
    long last = transport.lastPublished(peer);
    CallRecord record = last == 0 ? null : transport.recordOf(peer, last);
    return record != null && record.header().isParting();
  }
}
