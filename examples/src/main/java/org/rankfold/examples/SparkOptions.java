// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.rankfold.spark.Rankfold;
import org.rankfold.spark.RankfoldPlugin;
import picocli.CommandLine.Option;

/**
 * Where a job runs and on how many tasks. The launcher gives the master as a system property; a JVM
 * started by hand may say {@code --master} or nothing, which means this machine.
 */
final class SparkOptions {
  private static final String MASTER = "spark.master";
  private static final String PLUGINS = "spark.plugins";

  @Option(
      names = "--tasks",
      paramLabel = "N",
      defaultValue = "0",
      description = "Spark tasks that host the logical ranks (default: as there are slots).")
  private int tasks;

  @Option(
      names = "--master",
      paramLabel = "URL",
      description = "Spark's master (default: this machine, a thread a task).")
  private String master;

  SparkOptions() {}

  /** How many tasks were asked for, 0 for as many as there are slots. */
  int tasks() {
    return tasks;
  }

  /** A session of this JVM, owned by the caller. */
  SparkSession session(String name) {
    SparkConf given = new SparkConf();
    SparkSession.Builder builder = SparkSession.builder().appName(name);
    if (master != null) {
      builder.master(master);
    } else if (!given.contains(MASTER)) {
      int cores = Runtime.getRuntime().availableProcessors();
      builder.master("local[" + Math.max(tasks, cores) + "]");
    }
    if (!given.contains(PLUGINS)) {
      builder.config(PLUGINS, RankfoldPlugin.class.getName());
    }
    return builder.getOrCreate();
  }

  /**
   * A plan with the tasks asked for, never more than logical ranks where a table says the ranks.
   */
  Rankfold plan(SparkSession session, int world) {
    Rankfold plan = Rankfold.on(session).world(world);
    return tasks == 0 ? plan : plan.tasks(Math.min(tasks, world));
  }
}
