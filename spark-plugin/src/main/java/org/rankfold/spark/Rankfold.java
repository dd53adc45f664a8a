// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.spark.bootstrap.MemoryPlan;
import org.rankfold.spark.driver.FirstCauses;
import org.rankfold.spark.driver.Preflight;
import org.rankfold.transport.RankTable;
import scala.jdk.javaapi.CollectionConverters;

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
  /** Spark's own, by which it interrupts the tasks of a job. */
  private static final String INTERRUPT_ON_CANCEL = "spark.job.interruptOnCancel";

  private static final String PREFIX = "spark.rankfold.";

  private final JavaSparkContext spark;
  private final int world;
  private final int tasks;
  private final String name;
  private final Map<String, String> settings;
  private final MemoryPlan memory;

  private Rankfold(
      JavaSparkContext spark,
      int world,
      int tasks,
      String name,
      Map<String, String> settings,
      MemoryPlan memory) {
    this.spark = spark;
    this.world = world;
    this.tasks = tasks;
    this.name = name;
    this.settings = settings;
    this.memory = memory;
  }

  /**
   * A plan on the Spark application of a session, with the session's {@code spark.rankfold.*}
   * settings as they are now.
   *
   * @param session a classic session
   * @return the plan
   * @throws CollectiveException UNSUPPORTED for a session of Spark Connect, and when Spark was
   *     built for another Scala than 2.13
   */
  public static Rankfold on(SparkSession session) {
    ScalaRelease.require();
    Preflight.requireClassic(session);
    Map<String, String> settings = new HashMap<>();
    CollectionConverters.asJava(session.conf().getAll())
        .forEach(
            (key, value) -> {
              if (key.startsWith(PREFIX)) {
                settings.put(key, value);
              }
            });
    return plan(JavaSparkContext.fromSparkContext(session.sparkContext()), settings);
  }

  /**
   * A plan on a Spark application.
   *
   * @param sc its context
   * @return the plan
   * @throws CollectiveException UNSUPPORTED when Spark was built for another Scala than 2.13
   */
  public static Rankfold on(JavaSparkContext sc) {
    ScalaRelease.require();
    return plan(sc, Map.of());
  }

  private static Rankfold plan(JavaSparkContext sc, Map<String, String> settings) {
    return new Rankfold(sc, 0, 0, "rankfold", Map.copyOf(settings), new MemoryPlan(List.of()));
  }

  /**
   * How many logical ranks the group has; results depend on it. Required.
   *
   * @param logicalRanks at least 1
   * @return a plan that differs in this only
   */
  public Rankfold world(int logicalRanks) {
    return new Rankfold(spark, logicalRanks, tasks, name, settings, memory);
  }

  /**
   * How many tasks host them; no result depends on it. Without it, as many as there are slots, at
   * most the world; over data, as many as its partitions.
   *
   * @param newTasks from 1 to the world
   * @return a plan that differs in this only
   * @throws CollectiveException INVALID_WORLD below 1
   */
  public Rankfold tasks(int newTasks) {
    if (newTasks < 1) {
      throw CollectiveException.usage(ErrorCode.INVALID_WORLD, "tasks=%d < 1", newTasks);
    }
    return new Rankfold(spark, world, newTasks, name, settings, memory);
  }

  /**
   * What the run is called in Spark's UI and in messages.
   *
   * @param newName any text
   * @return a plan that differs in this only
   */
  public Rankfold name(String newName) {
    return new Rankfold(spark, world, tasks, newName, settings, memory);
  }

  /**
   * Overrides a setting for the groups of this plan.
   *
   * @param key a {@code spark.rankfold.*} key
   * @param value its text
   * @return a plan that differs in this only
   * @throws CollectiveException INVALID_CONFIG for an unknown key
   */
  public Rankfold set(String key, String value) {
    Preflight.requireKnown(key);
    Map<String, String> more = new HashMap<>(settings);
    more.put(key, value);
    return new Rankfold(spark, world, tasks, name, Map.copyOf(more), memory);
  }

  /**
   * Declares an arena that every logical rank will allocate, so that a run that cannot fit is
   * refused before it starts. May be called for several arenas; allocates nothing.
   *
   * @param dtype the element type
   * @param count elements
   * @return a plan that differs in this only
   */
  public Rankfold arenaElements(DType dtype, long count) {
    List<MemoryPlan.ArenaKind> more = new ArrayList<>(memory.arenas());
    more.add(new MemoryPlan.ArenaKind(dtype, count));
    return new Rankfold(spark, world, tasks, name, settings, new MemoryPlan(more));
  }

  /**
   * Runs a body on every task. Blocks until all have ended; when one fails, until Spark has failed
   * the job, while the others notice at their next call. A task whose body has returned waits for
   * the others' to return, as long as in a call ({@code spark.rankfold.timeout.collective}).
   *
   * @param body what every task does
   * @param <R> what it returns
   * @return the results in the order of tasks, which is that of logical ranks
   * @throws CollectiveException at once when the group could not form (TOO_FEW_SLOTS,
   *     TOO_LITTLE_MEMORY, INVALID_WORLD, INVALID_CONFIG, UNSUPPORTED); later with the first cause:
   *     a usage error of Rankfold with its own code, anything a body threw as USER_CODE_FAILED with
   *     that as its cause, TIMEOUT when a task did not come to a call, CANCELLED when the job was
   *     cancelled or the thread interrupted; PEER_FAILED and the like, the cluster's failures,
   *     after {@code spark.rankfold.retry.attempts} more submissions, each of which runs the bodies
   *     from their beginning and is told in the message
   */
  public <R> List<R> run(RankFunction<R> body) {
    Preflight preflight = new Preflight(spark.sc(), source());
    int count = tasks > 0 ? tasks : Math.min(world, preflight.slotsNow());
    RankTable table = new RankTable(world, count);
    List<Integer> ids = new ArrayList<>();
    for (int task = 0; task < count; task++) {
      ids.add(task);
    }
    preflight.require(table, memory);
    return collect(table, spark.parallelize(ids, count), (context, rows) -> body.call(context));
  }

  /**
   * Runs a body on every partition of data, each a task; otherwise as {@link #run(RankFunction)}.
   *
   * @param data at least one partition, at most as many as logical ranks
   * @param body what every task does
   * @param <T> what data holds
   * @param <R> what the body returns
   * @return the results in the order of partitions, which is that of logical ranks
   * @throws CollectiveException as {@link #run(RankFunction)}; INVALID_WORLD also when {@link
   *     #tasks} says another number than the partitions
   */
  public <T, R> List<R> run(JavaRDD<T> data, RankDataFunction<T, R> body) {
    int partitions = data.getNumPartitions();
    if (tasks > 0 && tasks != partitions) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_WORLD,
          "tasks=%d != partitions=%d of the data: each partition is a task",
          tasks,
          partitions);
    }
    RankTable table = new RankTable(world, partitions);
    new Preflight(spark.sc(), source()).require(table, memory);
    return collect(table, data, body);
  }

  /**
   * Runs a body on every partition of a Dataset, each a task; as {@link #run(JavaRDD,
   * RankDataFunction)}. Spark promises no order of a Dataset's rows or partitions.
   *
   * @param data at least one partition, at most as many as logical ranks
   * @param body what every task does
   * @param <T> what data holds
   * @param <R> what the body returns
   * @return the results in the order of partitions, which is that of logical ranks
   * @throws CollectiveException as {@link #run(JavaRDD, RankDataFunction)}
   */
  public <T, R> List<R> run(Dataset<T> data, RankDataFunction<T, R> body) {
    return run(data.toJavaRDD(), body);
  }

  private ConfigSource source() {
    return key -> {
      String text = settings.get(key);
      return text == null ? spark.getConf().get(key, null) : text;
    };
  }

  /**
   * Spark never retries a barrier stage that returns results: every attempt is a job of its own.
   */
  private <T, R> List<R> collect(RankTable table, JavaRDD<T> data, RankDataFunction<T, R> body) {
    Resubmission attempts = new Resubmission(name, source(), System.nanoTime());
    while (true) {
      try {
        if (attempts.next() > 1) {
          new Preflight(spark.sc(), source()).require(table, memory);
        }
        return submit(data, body, attempts.current());
      } catch (CollectiveException e) {
        attempts.onFailure(e, spark.sc().isStopped(), System.nanoTime());
      }
    }
  }

  /** Tagged, so that an interrupt of this thread cancels this job and no other. */
  private <T, R> List<R> submit(JavaRDD<T> data, RankDataFunction<T, R> body, int attempt) {
    SparkContext sc = spark.sc();
    FirstCauses causes = FirstCauses.register(sc);
    String tag = "rankfold-" + UUID.randomUUID();
    String description = sc.getLocalProperty("spark.job.description");
    String interrupts = sc.getLocalProperty(INTERRUPT_ON_CANCEL);
    sc.addJobTag(tag);
    sc.setJobDescription(attempt == 1 ? name : name + " (attempt " + attempt + ")");
    if (ConfigKeys.INTERRUPT_ON_CANCEL.of(source()).equals("true")) {
      sc.setLocalProperty(INTERRUPT_ON_CANCEL, "true");
    }
    try {
      return BarrierStage.collect(
          data,
          new RankTask<>(world, settings, memory, body, causes, new RunAttempt(tag, attempt)));
    } catch (Exception e) {
      if (e instanceof InterruptedException && !sc.isStopped()) {
        sc.cancelJobsWithTag(tag);
      }
      throw JobOutcome.withMissing(JobOutcome.of(name, e, causes), sc, tag);
    } finally {
      sc.removeJobTag(tag);
      sc.setJobDescription(description);
      sc.setLocalProperty(INTERRUPT_ON_CANCEL, interrupts);
    }
  }
}
