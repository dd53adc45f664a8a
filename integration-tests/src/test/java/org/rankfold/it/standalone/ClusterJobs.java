// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.standalone;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.examples.DigestJob;
import org.rankfold.examples.DigitsData;
import org.rankfold.examples.MemoryKind;
import org.rankfold.spark.Rankfold;
import org.rankfold.spark.train.KeyedRows;
import org.rankfold.spark.train.RowKey;
import org.rankfold.spark.train.Sgd;
import org.rankfold.spark.train.Trainer;

/**
 * An application of a user: golden rows on all four slots, then two fits in parallel, two tasks
 * each. Prints a line for everything a test may assert.
 */
public final class ClusterJobs {
  private static final int WORLD = 5;
  private static final int TASKS = 4;

  private ClusterJobs() {}

  /**
   * Runs the jobs where Spark's settings say.
   *
   * @param args none
   * @throws Exception when one fails
   */
  public static void main(String[] args) throws Exception {
    try (SparkSession session = SparkSession.builder().appName("cluster-jobs").getOrCreate()) {
      JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
      golden(session);
      fits(spark, List.of(42L, 43L));
    }
  }

  private static List<GoldenRow> rows() {
    return GoldenTable.builtIn().stream().filter(row -> row.contract().world() == WORLD).toList();
  }

  private static void golden(SparkSession session) {
    List<GoldenRow> rows = rows();
    List<List<String>> byTask =
        Rankfold.on(session)
            .world(WORLD)
            .tasks(TASKS)
            .run(
                context -> {
                  List<String> found = new ArrayList<>();
                  for (GoldenRow row : rows()) {
                    found.add(DigestJob.digest(context.communicator(), row, MemoryKind.HEAP));
                  }
                  found.add(ProcessHandle.current().pid() + " " + context.communicator().info());
                  return found;
                });
    int equal = 0;
    TreeSet<String> processes = new TreeSet<>();
    for (List<String> found : byTask) {
      for (int i = 0; i < rows.size(); i++) {
        equal += found.get(i).equals(rows.get(i).sha256()) ? 1 : 0;
      }
      processes.add(found.get(rows.size()).split(" ", 2)[0]);
    }
    System.out.println("EQUAL " + equal + " of " + rows.size() * TASKS);
    System.out.println("PROCESSES " + processes.size());
  }

  private static void fits(JavaSparkContext spark, List<Long> seeds) throws Exception {
    TreeMap<Long, Future<String>> running = new TreeMap<>();
    List<long[]> spans = Collections.synchronizedList(new ArrayList<>());
    ExecutorService threads = Executors.newFixedThreadPool(seeds.size());
    try {
      for (long seed : seeds) {
        running.put(
            seed,
            threads.submit(
                () -> {
                  long startNs = System.nanoTime();
                  String sha = fit(spark, seed, 2);
                  spans.add(new long[] {startNs, System.nanoTime()});
                  return sha;
                }));
      }
      for (var fit : running.entrySet()) {
        System.out.println("FIT " + fit.getKey() + " " + fit.getValue().get());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } finally {
      threads.shutdown();
    }
    long lastStartNs = spans.stream().mapToLong(span -> span[0]).max().orElseThrow();
    long firstEndNs = spans.stream().mapToLong(span -> span[1]).min().orElseThrow();
    System.out.println("PARALLEL " + (lastStartNs - firstEndNs < 0));
  }

  /** Trains on the digits; the digest of the parameters, which the seed decides and no task. */
  static String fit(JavaSparkContext spark, long seed, int tasks) {
    return Trainer.builder(new DigitsModel())
        .name("fit " + seed)
        .world(WORLD)
        .tasks(tasks)
        .globalBatch(64)
        .epochs(4)
        .optimizer(new Sgd(0.05f))
        .seed(seed)
        .build()
        .fit(KeyedRows.of(spark.parallelize(DigitsData.read()), row -> RowKey.of(row.id())))
        .sha256();
  }
}
