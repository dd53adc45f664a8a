// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Brings epochs to the driver's listener, each once and in order: at once when the task runs in the
 * driver's JVM (it finds the feed by its name in this process), the rest when the training is over.
 */
final class EpochFeed implements AutoCloseable {
  /** The process' open feeds by name. */
  private static final Map<String, EpochFeed> OPEN = new ConcurrentHashMap<>();

  private final String name = UUID.randomUUID().toString();
  private final EpochListener listener;
  private int told;

  private EpochFeed(EpochListener listener) {
    this.listener = listener;
  }

  static EpochFeed open(EpochListener listener) {
    EpochFeed feed = new EpochFeed(listener);
    OPEN.put(feed.name, feed);
    return feed;
  }

  String name() {
    return name;
  }

  /** Tells the feed of this name when this process has it, and does nothing elsewhere. */
  static void offer(String name, EpochReport report) {
    EpochFeed feed = OPEN.get(name);
    if (feed != null) {
      feed.tell(report);
    }
  }

  /** Tells what has not been told. */
  void tellRest(List<EpochReport> reports) {
    reports.forEach(this::tell);
  }

  private synchronized void tell(EpochReport report) {
    if (report.epoch() <= told) {
      return;
    }
    if (report.epoch() != told + 1) {
      throw new CollectiveException(
          ErrorCode.INTERNAL, "epoch=" + report.epoch() + " follows epoch=" + told);
    }
    told = report.epoch();
    listener.onEpoch(report);
  }

  @Override
  public void close() {
    OPEN.remove(name);
  }
}
