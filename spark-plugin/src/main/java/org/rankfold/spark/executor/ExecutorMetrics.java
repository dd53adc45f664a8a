// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.executor;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricRegistry;
import org.rankfold.errors.ErrorCode;
import org.rankfold.metrics.CollectiveMetrics;

/** A process's counters in Spark's metrics system: calls, bytes of addends, time, failures. */
final class ExecutorMetrics implements CollectiveMetrics {
  private final Counter calls;
  private final Counter bytes;
  private final Counter timeNs;
  private final Counter failures;

  ExecutorMetrics(MetricRegistry registry) {
    calls = registry.counter("collective.calls");
    bytes = registry.counter("collective.bytes");
    timeNs = registry.counter("collective.timeNs");
    failures = registry.counter("collective.failures");
  }

  @Override
  public void onCall(String kind, long byteCount, long elapsedNs) {
    calls.inc();
    bytes.inc(byteCount);
    timeNs.inc(elapsedNs);
  }

  @Override
  public void onFailure(ErrorCode code) {
    failures.inc();
  }
}
