// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkContext;
import org.rankfold.InternalApi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's JVM as runs see it, with or without the plugin. One instance a process; a plugin
 * attaches itself while its application lives. Thread-safe.
 */
@InternalApi
public final class DriverProcess {
  /** The process's own. */
  public static final DriverProcess CURRENT = new DriverProcess();

  private static final Logger LOG = LoggerFactory.getLogger(DriverProcess.class);
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long PACE_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private record Attached(SparkContext spark, GroupRegistry registry) {}

  private volatile Attached attached;

  private DriverProcess() {}

  void attach(SparkContext spark, GroupRegistry registry) {
    attached = new Attached(spark, registry);
  }

  /** Only by whoever is attached: in one JVM, the next application's plugin may have come. */
  void detach(GroupRegistry registry) {
    Attached current = attached;
    if (current != null && current.registry() == registry) {
      attached = null;
    }
  }

  /**
   * A run has failed, and its group is no longer one: tasks that died never tell their end.
   *
   * @param spark the run's application
   * @param run its id
   */
  public void conclude(SparkContext spark, String run) {
    Attached current = attached;
    if (current != null && current.spark() == spark) {
      current.registry().conclude(run);
    }
  }

  /**
   * Who was missing when a run failed, as the tasks' reports say it; logs it unless the log has it.
   * Waits up to a second for the last reports of tasks that are ending, none when all have told.
   *
   * @param spark the run's application
   * @param run its id
   * @return for example {@code all_reduce #7 (f32 x 8): 2 of 3 tasks arrived; missing logical rank
   *     2 (task 2, executor 1, host b), last finished #5, silent for 30.2 s}, or null without the
   *     plugin or when nobody was missing
   */
  public String missing(SparkContext spark, String run) {
    Attached current = attached;
    if (current == null || current.spark() != spark) {
      return null;
    }
    long startNs = System.nanoTime();
    long nowNs = startNs;
    while (current.registry().isAwaited(run)
        && nowNs - startNs < PATIENCE_NS
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(PACE_NS);
      nowNs = System.nanoTime();
    }
    GroupRegistry.Ending ending = current.registry().ending(run, nowNs);
    if (ending == null) {
      return null;
    }
    if (ending.isNews()) {
      LOG.warn("{}", ending.text());
    }
    return ending.text();
  }
}
