// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * How many tasks a cluster can run at once, as far as its settings say it.
 *
 * @param count slots, or -1 when the settings set no bound
 * @param arithmetic how they come about, for messages
 */
record Slots(int count, String arithmetic) {
  private static final Pattern LOCAL = Pattern.compile("local(\\[(\\*|\\d+)(,\\s*\\d+)?\\])?");
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*(\\d+)\\s*,\\s*(\\d+)\\s*,\\s*\\d+\\s*\\]");

  static boolean isLocal(String master) {
    return LOCAL.matcher(master).matches();
  }

  /** What the settings say, without a look at the cluster. */
  static Slots of(SparkConf conf, String master, int cores) {
    int cpus = Math.max(1, conf.getInt("spark.task.cpus", 1));
    Matcher local = LOCAL.matcher(master);
    if (local.matches()) {
      String number = local.group(2);
      int have = number == null ? 1 : number.equals("*") ? cores : Integer.parseInt(number);
      return slots(
          have / cpus, String.format("%s has %d cores / spark.task.cpus=%d", master, have, cpus));
    }
    Matcher cluster = LOCAL_CLUSTER.matcher(master);
    if (cluster.matches()) {
      int executors = Integer.parseInt(cluster.group(1));
      int each = Integer.parseInt(cluster.group(2));
      return slots(
          executors * (each / cpus),
          String.format(
              "%s has %d executors x (%d cores / spark.task.cpus=%d)",
              master, executors, each, cpus));
    }
    int instances = conf.getInt("spark.executor.instances", -1);
    int each = conf.getInt("spark.executor.cores", -1);
    if (instances > 0 && each > 0) {
      return slots(
          instances * (each / cpus),
          String.format(
              "spark.executor.instances=%d x (spark.executor.cores=%d / spark.task.cpus=%d)",
              instances, each, cpus));
    }
    int most = conf.getInt("spark.cores.max", -1);
    return most > 0
        ? slots(most / cpus, String.format("spark.cores.max=%d / spark.task.cpus=%d", most, cpus))
        : new Slots(-1, "no setting bounds the slots");
  }

  private static Slots slots(int count, String arithmetic) {
    return new Slots(count, arithmetic + " = " + count);
  }

  boolean canHold(int tasks) {
    return count < 0 || tasks <= count;
  }

  /**
   * Refuses what can never run.
   *
   * @throws CollectiveException TOO_FEW_SLOTS with the arithmetic
   */
  void require(int tasks) {
    if (!canHold(tasks)) {
      throw refusal(tasks);
    }
  }

  CollectiveException refusal(int tasks) {
    return CollectiveException.usage(
        ErrorCode.TOO_FEW_SLOTS,
        "tasks=%d > slots=%d: %s; a barrier stage runs all its tasks at once: give the cluster more"
            + " cores, or ask for fewer tasks (the bits stay the same)",
        tasks,
        count,
        arithmetic);
  }
}
