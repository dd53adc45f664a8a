// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.rankfold.collective.Communicator;
import org.rankfold.errors.CollectiveException;
import org.rankfold.spark.RankContext;
import org.rankfold.spark.Rankfold;
import org.rankfold.view.View;

/**
 * Local mode: gives a call up while both tasks fold in each other's memory, then forms another
 * group. Arguments: folder, how long a failed call waits for its memory, how often to try at most.
 */
public final class PoisonMain {
  private static final int N = 4 << 20;
  private static final long HEAD_START_NS = 2_000_000;

  private PoisonMain() {}

  /**
   * Runs the groups and prints a line for everything a test may assert.
   *
   * @param args as the class says
   */
  public static void main(String[] args) {
    SparkConf conf =
        new SparkConf()
            .setMaster("local[2]")
            .setAppName("poison")
            .set("spark.ui.enabled", "false")
            .set("spark.rankfold.fold", "scalar")
            .set("spark.rankfold.chunk.bytes", "4m")
            .set("spark.rankfold.timeout.exit", args[1]);
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      Rankfold plan = Rankfold.on(spark).world(8).tasks(2);
      System.out.println("BEFORE " + next(plan));
      int tries = Integer.parseInt(args[2]);
      for (int i = 0; i < tries && next(plan).startsWith("ok"); i++) {
        try {
          plan.run(PoisonMain::giveUp);
        } catch (CollectiveException e) {
          System.out.println("RUN " + e.code());
        }
      }
      System.out.println("NEXT " + next(plan));
    }
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      System.out.println("NEXT APPLICATION " + next(Rankfold.on(spark).world(8).tasks(2)));
    }
  }

  private static String next(Rankfold plan) {
    try {
      return "ok " + plan.run(RankContext::task);
    } catch (CollectiveException e) {
      return e.code() + " " + e.category() + " " + e.getMessage();
    }
  }

  private static Integer giveUp(RankContext context) {
    Communicator communicator = context.communicator();
    List<View> addends = new ArrayList<>();
    for (int rank = 0; rank < context.rankCount(); rank++) {
      addends.add(View.of(new float[N]));
    }
    View out = View.of(new float[N]);
    communicator.barrier();
    Thread other =
        new Thread(
            () -> {
              LockSupport.parkNanos(HEAD_START_NS);
              communicator.abort(new IllegalStateException("given up"));
            });
    other.start();
    try {
      while (true) {
        communicator.allReduce(addends, out);
      }
    } catch (CollectiveException e) {
      System.out.println("TASK " + e.code() + " " + e.category());
      throw e;
    }
  }
}
