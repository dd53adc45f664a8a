// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.executor;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.api.plugin.PluginContext;
import org.rankfold.InternalApi;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.spark.driver.TaskReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as Rankfold's tasks see it, with or without the plugin. One instance a process; a
 * plugin attaches itself while its application lives. Thread-safe.
 */
@InternalApi
public final class ExecutorProcess {
  /** The process's own. */
  public static final ExecutorProcess CURRENT = new ExecutorProcess();

  private static final Logger LOG = LoggerFactory.getLogger(ExecutorProcess.class);

  private record Attached(PluginContext context, ExecutorMetrics metrics) {}

  private final AtomicBoolean saidUnattached = new AtomicBoolean();
  private volatile Attached attached;

  private ExecutorProcess() {}

  void attach(PluginContext context, ExecutorMetrics metrics) {
    attached = new Attached(context, metrics);
  }

  /** Only by whoever is attached: in one JVM, the next application's plugin may have come. */
  void detach(PluginContext context) {
    Attached current = attached;
    if (current != null && current.context() == context) {
      attached = null;
    }
  }

  /**
   * Where groups of this process count.
   *
   * @return the plugin's metrics, or none
   */
  public CollectiveMetrics metrics() {
    Attached current = attached;
    return current == null ? CollectiveMetrics.NONE : current.metrics();
  }

  /** Sends a report to the driver, if the plugin is there; never throws. */
  void report(TaskReport report) {
    Attached current = attached;
    if (current == null) {
      if (saidUnattached.compareAndSet(false, true)) {
        LOG.info(
            "no driver's view of this process's groups: org.rankfold.spark.RankfoldPlugin is not in"
                + " spark.plugins");
      }
      return;
    }
    try {
      current.context().send(report);
    } catch (IOException | RuntimeException e) {
      LOG.debug("a report did not reach the driver", e);
    }
  }
}
