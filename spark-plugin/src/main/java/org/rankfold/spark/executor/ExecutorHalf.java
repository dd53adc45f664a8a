// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.executor;

import java.util.Map;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.rankfold.InternalApi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugin in an executor: counts in Spark's metrics and carries tasks' reports to the driver.
 * Throws nothing into Spark, which would end the executor for it; asks for no hostname, which Spark
 * cannot answer on real executors.
 */
@InternalApi
public final class ExecutorHalf implements ExecutorPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorHalf.class);

  private PluginContext context;

  /** A half that does nothing before its init. */
  public ExecutorHalf() {}

  @Override
  public void init(PluginContext pluginContext, Map<String, String> extraConf) {
    try {
      ExecutorProcess.CURRENT.attach(
          pluginContext, new ExecutorMetrics(pluginContext.metricRegistry()));
      context = pluginContext;
    } catch (RuntimeException e) {
      LOG.warn("Rankfold's executor half is off: groups run without metrics and reports", e);
    }
  }

  @Override
  public void shutdown() {
    if (context != null) {
      ExecutorProcess.CURRENT.detach(context);
    }
  }
}
