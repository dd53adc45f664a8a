// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * Times what Spark itself offers for an all-reduce: {@code treeAggregate} of every partition's
 * floats to the driver, and a broadcast of the sum that every partition reads. As in {@code
 * benchmarks/peers/allreduce.c} inputs are written anew in each step and the result is read.
 *
 * <p>Arguments: partitions (threads of a local master), then sizes in bytes. Prints "bytes us" a
 * line, the median of the steps; with {@code bits} before the sizes "bytes digest", see {@link
 * PeerBits}.
 */
public final class TreeAggregateTimes {
  private static final int WARM_STEPS = 5;
  private static final int STEPS = 9;

  private TreeAggregateTimes() {}

  /**
   * Runs the benchmark.
   *
   * @param args as the class says
   */
  public static void main(String[] args) {
    int partitions = Integer.parseInt(args[0]);
    SparkConf conf =
        new SparkConf()
            .setMaster("local[" + partitions + "]")
            .setAppName("tree-aggregate")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.ui.enabled", "false");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      List<Integer> ids = new ArrayList<>();
      for (int p = 0; p < partitions; p++) {
        ids.add(p);
      }
      JavaRDD<Integer> ranks = spark.parallelize(ids, partitions).cache();
      ranks.count();
      boolean onlyBits = args[1].equals("bits");
      for (String size : Arrays.copyOfRange(args, onlyBits ? 2 : 1, args.length)) {
        if (onlyBits) {
          bits(ranks, partitions, Long.parseLong(size));
        } else {
          time(spark, ranks, Long.parseLong(size));
        }
      }
    }
  }

  private static void bits(JavaRDD<Integer> ranks, int partitions, long bytes) {
    int n = Math.toIntExact(bytes / Float.BYTES);
    float[] sum =
        ranks
            .map(rank -> PeerBits.partialSum(n, partitions, rank))
            .treeAggregate(new float[n], TreeAggregateTimes::added, TreeAggregateTimes::added, 2);
    System.out.println(bytes + " " + PeerBits.digest(sum));
  }

  private static void time(JavaSparkContext spark, JavaRDD<Integer> ranks, long bytes) {
    int n = Math.toIntExact(bytes / Float.BYTES);
    double[] us = new double[STEPS];
    for (int step = -WARM_STEPS; step < STEPS; step++) {
      long startNs = System.nanoTime();
      step(spark, ranks, n, step);
      if (step >= 0) {
        us[step] = (System.nanoTime() - startNs) / 1e3;
      }
    }
    Arrays.sort(us);
    System.out.printf(Locale.ROOT, "%d %.2f%n", bytes, us[STEPS / 2]);
  }

  private static void step(JavaSparkContext spark, JavaRDD<Integer> ranks, int n, int step) {
    float[] sum =
        ranks
            .map(
                rank -> {
                  float[] in = new float[n];
                  Arrays.fill(in, step);
                  return in;
                })
            .treeAggregate(new float[n], TreeAggregateTimes::added, TreeAggregateTimes::added, 2);
    Broadcast<float[]> result = spark.broadcast(sum);
    double read = ranks.mapToDouble(rank -> readAll(result.value())).sum();
    if (Double.isNaN(read)) {
      throw new IllegalStateException("the sum of step " + step + " is no number");
    }
    result.destroy();
  }

  private static float[] added(float[] sum, float[] x) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += x[i];
    }
    return sum;
  }

  private static float readAll(float[] values) {
    float sum = 0;
    for (int i = 0; i < values.length; i += 16) {
      sum += values[i];
    }
    return sum;
  }
}
