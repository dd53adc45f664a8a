// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.rankfold.errors.CollectiveException;
import org.rankfold.spark.RankContext;
import org.rankfold.spark.Rankfold;
import org.rankfold.view.View;

/**
 * Groups of three executors, one of which is killed, stopped or never comes; when its survivors
 * learn of it and when their slots are free, in milliseconds after the fault. Arguments: folder,
 * how often, then any of kill, stop, absent.
 */
public final class BoundsMain {
  private static final int WORLD = 5;
  private static final int VICTIM = 1;
  private static final int CALLS = 20;
  private static final long SLOT_PATIENCE_MS = 20_000;

  /** Every fault of one application, one after the other. */
  private final JavaSparkContext spark;

  private final Path folder;
  private final Map<Integer, Long> ends = new ConcurrentHashMap<>();

  private BoundsMain(JavaSparkContext spark, Path folder) {
    this.spark = spark;
    this.folder = folder;
  }

  /**
   * Runs, and prints a line for everything a test may assert.
   *
   * @param args as the class says
   * @throws Exception when a process could not be killed
   */
  public static void main(String[] args) throws Exception {
    try (JavaSparkContext spark =
        FaultCluster.start(
            "spark.rankfold.retry.attempts",
            "0",
            "spark.rankfold.timeout.peer",
            "3s",
            "spark.rankfold.timeout.collective",
            "6s",
            "spark.rankfold.report.after",
            "3s")) {
      BoundsMain bounds = new BoundsMain(spark, Path.of(args[0]));
      spark.sc().addSparkListener(bounds.listener());
      for (int round = 0; round < Integer.parseInt(args[1]); round++) {
        for (String fault : List.of(args).subList(2, args.length)) {
          bounds.run(fault, fault + "-" + round);
        }
      }
    }
  }

  private SparkListener listener() {
    return new SparkListener() {
      @Override
      public void onTaskEnd(SparkListenerTaskEnd end) {
        ends.put(end.taskInfo().index(), System.currentTimeMillis());
      }
    };
  }

  private void run(String fault, String round) throws Exception {
    ends.clear();
    List<Long> faultMs = new ArrayList<>();
    Thread injector = new Thread(() -> inject(fault, round, faultMs), "injector");
    injector.start();
    String marks = folder.toString();
    String told = "NOTHING";
    try {
      Rankfold.on(spark)
          .world(WORLD)
          .tasks(FaultCluster.TASKS)
          .name(round)
          .run(context -> body(context, marks, fault, round));
    } catch (CollectiveException e) {
      told = e.code() + " " + e.getMessage();
    }
    long toldMs = System.currentTimeMillis();
    injector.join();
    long startMs = faultMs.get(0);
    System.out.printf("USER %s %d %s%n", fault, toldMs - startMs, told);
    for (int task = 0; task < FaultCluster.TASKS; task++) {
      if (task != VICTIM) {
        String[] lost = Marks.await(folder, round + "-lost-" + task).split(" ", 2);
        long lostMs = Long.parseLong(lost[0]);
        System.out.printf(
            "SURVIVOR %s %d %d %d %s%n",
            fault, task, lostMs - startMs, slotFreeMs(task) - lostMs, lost[1]);
      }
    }
    if (fault.equals("stop")) {
      SparkProcess.signal(
          "KILL", Long.parseLong(Marks.await(folder, round + "-running-" + VICTIM)));
    }
  }

  private long slotFreeMs(int task) throws InterruptedException {
    long startMs = System.currentTimeMillis();
    while (!ends.containsKey(task) && System.currentTimeMillis() - startMs < SLOT_PATIENCE_MS) {
      Thread.sleep(2);
    }
    return ends.getOrDefault(task, Long.MAX_VALUE);
  }

  private void inject(String fault, String round, List<Long> faultMs) {
    try {
      for (int task = 0; task < FaultCluster.TASKS; task++) {
        Marks.await(folder, round + "-running-" + task);
      }
      if (fault.equals("absent")) {
        faultMs.add(Long.parseLong(Marks.await(folder, round + "-absent")));
        return;
      }
      long pid = Long.parseLong(Marks.await(folder, round + "-running-" + VICTIM));
      faultMs.add(System.currentTimeMillis());
      SparkProcess.signal(fault.equals("kill") ? "KILL" : "STOP", pid);
    } catch (Exception e) {
      System.out.println("NO FAULT " + e);
    }
  }

  private static Integer body(RankContext context, String folder, String fault, String round)
      throws Exception {
    Path marks = Path.of(folder);
    int task = context.task();
    float[] x = new float[1 << 18];
    List<View> addends = new ArrayList<>();
    for (int rank = 0; rank < context.rankCount(); rank++) {
      addends.add(View.of(new float[x.length]));
    }
    try {
      for (int call = 0; ; call++) {
        context.communicator().allReduce(addends, View.of(x));
        if (call == CALLS) {
          Marks.put(marks, round + "-running-" + task, "" + ProcessHandle.current().pid());
        }
        if (task == 0) {
          // Most of its time this one is in its own code.
          Thread.sleep(20);
        }
        if (task == VICTIM && call > CALLS && fault.equals("absent")) {
          Marks.put(marks, round + "-absent", "" + System.currentTimeMillis());
          while (true) {
            context.checkAbort();
            Thread.sleep(10);
          }
        }
      }
    } catch (CollectiveException e) {
      Marks.put(
          marks,
          round + "-lost-" + task,
          System.currentTimeMillis() + " " + e.code() + " " + e.getMessage());
      throw e;
    }
  }
}
