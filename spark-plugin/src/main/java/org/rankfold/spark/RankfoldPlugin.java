// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;
import org.rankfold.spark.driver.DriverHalf;
import org.rankfold.spark.executor.ExecutorHalf;

/**
 * For {@code spark.plugins}: warnings of settings that would fail a group when an application
 * starts, metrics, and a line in the driver's log that says who is missing when a collective waits
 * too long. Groups run without it too.
 */
public final class RankfoldPlugin implements SparkPlugin {
  /** Made by Spark, once in each process. */
  public RankfoldPlugin() {}

  /** Spark starts no application on a Scala that this build cannot run on. */
  @Override
  public DriverPlugin driverPlugin() {
    ScalaRelease.require();
    return new DriverHalf();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorHalf();
  }
}
