// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.rankfold.transport.RankTable;

/**
 * A plan to run code on every task of a group; each wither returns a new plan, and every run forms
 * its group anew.
 *
 * <pre>{@code
 * List<Float> sums = Rankfold.on(session).world(8).run(context -> {
 *   List<View> addends = ...;   // one for each logical rank that context hosts
 *   context.communicator().allReduce(addends, View.of(sum));
 *   return sum[0];
 * });
 * }</pre>
 */
public final class Rankfold {
  private final JavaSparkContext spark;
  private final int world;
  private final int tasks;
  private final String name;
  private final Map<String, String> settings;

  private Rankfold(
      JavaSparkContext spark, int world, int tasks, String name, Map<String, String> settings) {
    this.spark = spark;
    this.world = world;
    this.tasks = tasks;
    this.name = name;
    this.settings = settings;
  }

  /**
   * A plan on the Spark application of a session.
   *
   * @param session a classic session
   * @return the plan
   */
  public static Rankfold on(SparkSession session) {
    return on(JavaSparkContext.fromSparkContext(session.sparkContext()));
  }

  /**
   * A plan on a Spark application.
   *
   * @param sc its context
   * @return the plan
   */
  public static Rankfold on(JavaSparkContext sc) {
    return new Rankfold(sc, 0, 0, "rankfold", Map.of());
  }

  /**
   * How many logical ranks the group has; results depend on it.
   *
   * @param logicalRanks at least 1
   * @return a plan that differs in this only
   */
  public Rankfold world(int logicalRanks) {
    return new Rankfold(spark, logicalRanks, tasks, name, settings);
  }

  /**
   * How many tasks host them; no result depends on it.
   *
   * @param newTasks from 1 to the world
   * @return a plan that differs in this only
   */
  public Rankfold tasks(int newTasks) {
    return new Rankfold(spark, world, newTasks, name, settings);
  }

  /**
   * What the run is called in Spark's UI and in messages.
   *
   * @param newName any text
   * @return a plan that differs in this only
   */
  public Rankfold name(String newName) {
    return new Rankfold(spark, world, tasks, newName, settings);
  }

  /**
   * Overrides a setting for the groups of this plan.
   *
   * @param key a {@code spark.rankfold.*} key
   * @param value its text
   * @return a plan that differs in this only
   */
  public Rankfold set(String key, String value) {
    Map<String, String> more = new HashMap<>(settings);
    more.put(key, value);
    return new Rankfold(spark, world, tasks, name, Map.copyOf(more));
  }

  /**
   * Runs a body on every task; blocks until all have ended.
   *
   * @param body what every task does
   * @param <R> what it returns
   * @return the results in the order of tasks, which is that of logical ranks
   */
  public <R> List<R> run(RankFunction<R> body) {
    int count = tasks > 0 ? tasks : Math.min(world, spark.defaultParallelism());
    RankTable table = new RankTable(world, count);
    List<Integer> ids = new ArrayList<>();
    for (int task = 0; task < table.tasks(); task++) {
      ids.add(task);
    }
    return runOver(spark.parallelize(ids, count), (context, rows) -> body.call(context));
  }

  /**
   * Runs a body on every partition of data, each a task; blocks until all have ended.
   *
   * @param data at most as many partitions as logical ranks
   * @param body what every task does
   * @param <T> what data holds
   * @param <R> what the body returns
   * @return the results in the order of partitions, which is that of logical ranks
   */
  public <T, R> List<R> run(JavaRDD<T> data, RankDataFunction<T, R> body) {
    return runOver(data, body);
  }

  private <T, R> List<R> runOver(JavaRDD<T> data, RankDataFunction<T, R> body) {
    int ranks = world;
    Map<String, String> overrides = settings;
    return BarrierStage.collect(data, rows -> runTask(ranks, overrides, body, rows));
  }

  private static <T, R> R runTask(
      int world, Map<String, String> overrides, RankDataFunction<T, R> body, Iterator<T> rows)
      throws Exception {
    try (RankContext context = RankContext.open(BarrierTaskContext.get(), world, overrides)) {
      try {
        R result = body.call(context, rows);
        context.communicator().barrier();
        return result;
      } catch (Throwable e) {
        context.communicator().abort(e);
        throw e;
      }
    }
  }
}
