// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.spark.api.java.JavaSparkContext;
import org.rankfold.digest.GoldenRow;
import org.rankfold.errors.CollectiveException;
import org.rankfold.it.tcp.GoldenRanks;
import org.rankfold.spark.RankContext;
import org.rankfold.spark.Rankfold;
import org.rankfold.view.View;

/**
 * A run whose first attempts lose an executor, by kill -9. Arguments: folder, first port of a range
 * to listen on, how many attempts are killed, what spark.rankfold.retry.attempts is.
 */
public final class RetryMain {
  private static final int WORLD = 5;
  private static final int PORTS = 30;
  private static final int VICTIM = 2;

  /** In an executor: what it was in the attempt before. */
  private static volatile StalePeer stale;

  private RetryMain() {}

  /**
   * Runs, and prints a line for everything a test may assert.
   *
   * @param args as the class says
   * @throws Exception when a process could not be killed
   */
  public static void main(String[] args) throws Exception {
    String folder = args[0];
    int port = Integer.parseInt(args[1]);
    int killed = Integer.parseInt(args[2]);
    GoldenRow row = GoldenRanks.rows(WORLD, 1).get(0);
    System.out.println("ROW " + row.sha256());
    try (JavaSparkContext spark =
        FaultCluster.start(
            "spark.rankfold.network.port",
            port + "-" + (port + PORTS),
            "spark.rankfold.retry.wait",
            "100ms",
            "spark.rankfold.retry.attempts",
            args[3])) {
      Thread killer = new Thread(() -> kill(folder, killed), "killer");
      killer.start();
      try {
        List<String> results =
            Rankfold.on(spark)
                .world(WORLD)
                .tasks(FaultCluster.TASKS)
                .name("retried")
                .run(context -> body(context, folder, killed, port));
        results.forEach(result -> System.out.println("TASK " + result));
      } catch (CollectiveException e) {
        System.out.println("FAILED " + e.code() + " " + e.getMessage());
      }
      killer.join();
    }
  }

  private static void kill(String folder, int attempts) {
    try {
      for (int attempt = 1; attempt <= attempts; attempt++) {
        String pid = "";
        for (int task = 0; task < FaultCluster.TASKS; task++) {
          pid = Marks.await(Path.of(folder), "running-" + attempt + "-" + task);
        }
        SparkProcess.signal("KILL", Long.parseLong(pid));
        System.out.println("KILLED " + attempt);
      }
    } catch (Exception e) {
      System.out.println("NOT KILLED " + e);
    }
  }

  private static String body(RankContext context, String folder, int killed, int port)
      throws Exception {
    String refused = "";
    StalePeer before = stale;
    if (before != null) {
      Set<String> refusals = before.refusals(port, port + PORTS);
      refused = " " + (before.group().equals(context.group()) ? "same group" : refusals);
    }
    stale = context.task() == VICTIM ? null : StalePeer.of(context);
    float[] x = new float[1 << 16];
    List<View> addends =
        java.util.stream.IntStream.range(0, context.rankCount())
            .mapToObj(rank -> View.of(new float[x.length]))
            .toList();
    for (int call = 0; context.attempt() <= killed; call++) {
      context.communicator().allReduce(addends, View.of(x));
      if (call == 20) {
        Marks.put(
            Path.of(folder),
            "running-" + context.attempt() + "-" + context.task(),
            Long.toString(ProcessHandle.current().pid()));
      }
    }
    String hash =
        GoldenRanks.allReduce(context.communicator(), GoldenRanks.rows(WORLD, 1).get(0), true);
    return context.task() + " attempt=" + context.attempt() + " " + hash + refused;
  }
}
