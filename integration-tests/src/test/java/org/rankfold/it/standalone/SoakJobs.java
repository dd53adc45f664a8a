// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.standalone;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.rankfold.collective.Communicator;
import org.rankfold.it.tcp.TcpRank;
import org.rankfold.spark.Rankfold;
import org.rankfold.view.View;

/** The same work over and over; says what processes hold early and late. */
public final class SoakJobs {
  private static final int TASKS = 4;

  private SoakJobs() {}

  /** Fits in a row on one application's executors. */
  public static final class Fits {
    private Fits() {}

    /**
     * Runs the fits.
     *
     * @param args how many, and after how many to look first
     * @throws Exception when one fails
     */
    public static void main(String[] args) throws Exception {
      int fits = Integer.parseInt(args[0]);
      int first = Integer.parseInt(args[1]);
      try (SparkSession session = SparkSession.builder().appName("soak").getOrCreate()) {
        JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
        String sha = ClusterJobs.fit(spark, 42, TASKS);
        for (int fit = 2; fit <= fits; fit++) {
          if (!ClusterJobs.fit(spark, 42, TASKS).equals(sha)) {
            System.out.println("WRONG " + fit);
          }
          if (fit == first || fit == fits) {
            tell(session);
          }
        }
      }
    }

    private static void tell(SparkSession session) {
      List<Usage> byTask =
          Rankfold.on(session).world(TASKS).tasks(TASKS).run(context -> Usage.now());
      Map<Long, Usage> byProcess =
          byTask.stream().collect(Collectors.toMap(Usage::pid, usage -> usage, (a, b) -> b));
      byProcess.values().forEach(usage -> System.out.println(usage.line()));
    }
  }

  /** Collectives in a row over TCP, without Spark. */
  public static final class Calls {
    private static final int ELEMENTS = 10_000;

    private Calls() {}

    /**
     * Runs the calls as one task.
     *
     * @param args the folder where tasks meet, tasks, this task, how many calls, and after how many
     *     to look first
     * @throws Exception when the tasks cannot meet
     */
    public static void main(String[] args) throws Exception {
      int tasks = Integer.parseInt(args[1]);
      int task = Integer.parseInt(args[2]);
      int calls = Integer.parseInt(args[3]);
      int first = Integer.parseInt(args[4]);
      float[] x = new float[ELEMENTS];
      float[] sum = new float[ELEMENTS];
      try (TcpRank rank = new TcpRank(Path.of(args[0]), "127.0.0.1");
          Communicator communicator = rank.join("soak", tasks, tasks, task, Map.of())) {
        for (int call = 1; call <= calls; call++) {
          // Every size, so that nothing may be kept by size.
          int n = 1 + call % ELEMENTS;
          x[n - 1] = call;
          communicator.allReduce(List.of(View.of(x, 0, n)), View.of(sum, 0, n));
          if (sum[n - 1] != (float) call * tasks) {
            System.out.println("WRONG " + call + " " + sum[n - 1]);
          }
          if (call == first || call == calls) {
            System.out.println(Usage.now().line());
          }
        }
      }
    }
  }
}
