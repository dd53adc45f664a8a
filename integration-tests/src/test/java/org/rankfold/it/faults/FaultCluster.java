// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.rankfold.spark.RankfoldPlugin;

/** An application on three executor processes of one slot each, in this driver's JVM. */
final class FaultCluster {
  /** Tasks of every group, one an executor. */
  static final int TASKS = 3;

  private FaultCluster() {}

  /** Starts it; settings are pairs of key and value. */
  static JavaSparkContext start(String... settings) {
    SparkConf conf =
        new SparkConf()
            .setMaster("local-cluster[" + TASKS + ",1,1024]")
            .setAppName("faults")
            .set("spark.ui.enabled", "false")
            .set("spark.executor.memory", "512m")
            .set("spark.plugins", RankfoldPlugin.class.getName())
            .set("spark.rankfold.transport", "tcp")
            .set("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
            .set("spark.rankfold.timeout.slots", "120s");
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    return new JavaSparkContext(conf);
  }
}
