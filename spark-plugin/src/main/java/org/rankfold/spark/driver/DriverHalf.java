// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import com.codahale.metrics.Gauge;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.rankfold.InternalApi;
import org.rankfold.config.ConfigKeys;
import org.rankfold.errors.CollectiveException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugin in the driver: warns of settings that would fail a group, listens to tasks' reports,
 * says who is missing. One instance an application; throws nothing into Spark and never blocks.
 */
@InternalApi
public final class DriverHalf implements DriverPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(DriverHalf.class);

  private volatile GroupRegistry registry =
      new GroupRegistry(ConfigKeys.REPORT_AFTER.of(key -> null));

  /** A half that hears nothing before its init. */
  public DriverHalf() {}

  @Override
  public Map<String, String> init(SparkContext spark, PluginContext context) {
    try {
      SparkConf conf = context.conf();
      String master = conf.get("spark.master", "local");
      for (SettingsReview.Finding finding : SettingsReview.of(conf, master)) {
        LOG.warn("{}: {}", finding.refuses() ? "groups will fail" : "mind", finding.text());
      }
      Slots slots = Slots.of(conf, master, Runtime.getRuntime().availableProcessors());
      if (slots.count() == 0 || slots.count() == 1) {
        LOG.warn("few slots, groups of one task only: {}", slots.arithmetic());
      }
      registry = new GroupRegistry(ConfigKeys.REPORT_AFTER.of(key -> conf.get(key, null)));
      DriverProcess.CURRENT.attach(spark, registry);
    } catch (CollectiveException e) {
      LOG.debug("a malformed setting has been warned of", e);
    } catch (RuntimeException e) {
      LOG.warn("Rankfold's driver half starts without its review of settings", e);
    }
    return Map.of();
  }

  @Override
  public void registerMetrics(String appId, PluginContext context) {
    try {
      gauge(context, "groups.active", () -> registry.active());
      gauge(context, "groups.ended", () -> registry.ended());
      gauge(context, "groups.failed", () -> registry.failed());
    } catch (RuntimeException e) {
      LOG.warn("Rankfold's driver metrics are not registered", e);
    }
  }

  private static void gauge(PluginContext context, String name, Gauge<Number> gauge) {
    context.metricRegistry().register(name, gauge);
  }

  @Override
  public Object receive(Object message) {
    if (message instanceof TaskReport report) {
      registry.accept(report, System.nanoTime()).forEach(LOG::warn);
    } else {
      LOG.warn("a message of another version of Rankfold: {}", message);
    }
    return null;
  }

  @Override
  public void shutdown() {
    DriverProcess.CURRENT.detach(registry);
    for (String line : registry.describe(System.nanoTime())) {
      LOG.info("still running at the end of the application: {}", line);
    }
  }
}
