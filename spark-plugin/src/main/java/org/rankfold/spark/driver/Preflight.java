// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.rankfold.InternalApi;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.spark.bootstrap.MemoryLimits;
import org.rankfold.spark.bootstrap.MemoryPlan;
import org.rankfold.transport.RankTable;

/** What is refused before a job starts, where Spark would wait ten minutes or for ever. */
@InternalApi
public final class Preflight {
  private static final long POLL_MS = 50;

  private final SparkContext spark;
  private final SparkConf conf;
  private final ConfigSource source;
  private final Slots slots;

  /**
   * A look at an application's settings.
   *
   * @param spark the application
   * @param source settings of the group
   */
  public Preflight(SparkContext spark, ConfigSource source) {
    this.spark = spark;
    this.conf = spark.conf();
    this.source = source;
    this.slots = Slots.of(conf, spark.master(), Runtime.getRuntime().availableProcessors());
  }

  /**
   * Refuses a session of Spark Connect, by name, without linking to its classes.
   *
   * @param session a SparkSession
   * @throws CollectiveException UNSUPPORTED
   */
  public static void requireClassic(Object session) {
    requireClassicName(session.getClass().getName());
  }

  static void requireClassicName(String className) {
    if (className.startsWith("org.apache.spark.sql.connect.")) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "session=%s is one of Spark Connect, which has no barrier stages; run the program in the"
              + " driver with a classic session",
          className);
    }
  }

  /**
   * Refuses a setting that Rankfold does not have.
   *
   * @param key a key
   * @throws CollectiveException INVALID_CONFIG with the known keys
   */
  public static void requireKnown(String key) {
    SettingsReview.requireKnown(key);
  }

  /**
   * How many tasks can run at once, now.
   *
   * @return slots, at least 1
   */
  public int slotsNow() {
    return Math.max(1, registeredSlots());
  }

  private int registeredSlots() {
    return Slots.isLocal(spark.master())
        ? slots.count()
        : spark.maxNumConcurrentTasks(spark.resourceProfileManager().defaultResourceProfile());
  }

  /**
   * Refuses a group that could not form. Blocks only on a cluster whose executors are still
   * registering, up to {@code spark.rankfold.timeout.slots}.
   *
   * @param table who hosts what
   * @param memory what the group will take
   * @throws CollectiveException TOO_FEW_SLOTS, TOO_LITTLE_MEMORY, INVALID_CONFIG or UNSUPPORTED,
   *     with what to change
   */
  public void require(RankTable table, MemoryPlan memory) {
    SettingsReview.requireValid(source);
    for (SettingsReview.Finding finding : SettingsReview.of(conf, spark.master())) {
      if (finding.refuses()) {
        throw CollectiveException.usage(finding.code(), "%s", finding.text());
      }
    }
    slots.require(table.tasks());
    if (Slots.isLocal(spark.master())) {
      memory.require(
          "local mode",
          table,
          IntStream.range(0, table.tasks()).boxed().toList(),
          GroupConfig.of(source),
          MemoryLimits.own(),
          false);
    } else {
      awaitExecutors(table.tasks());
    }
  }

  private void awaitExecutors(int tasks) {
    Deadline deadline = Deadline.after(System.nanoTime(), ConfigKeys.SLOTS_TIMEOUT.of(source));
    int registered = registeredSlots();
    while (registered < tasks) {
      if (deadline.isExpired(System.nanoTime())) {
        throw new Slots(
                registered,
                String.format(
                    "%d slots registered within %.0f s, %s",
                    registered, deadline.budgetSeconds(), slots.arithmetic()))
            .refusal(tasks);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CollectiveException(
            ErrorCode.CANCELLED, "interrupted while waiting for executors", e);
      }
      registered = registeredSlots();
    }
  }
}
