// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.rankfold.digest.BitDigest;
import org.rankfold.spark.RankContext;
import org.rankfold.view.View;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Shows how a barrier job that exists gets collectives: the stage stays as it was, its body opens a
 * {@link RankContext} from the task's {@link BarrierTaskContext} and closes it at the end. Prints
 * the digest of the digits' column means, the same for any number of tasks.
 */
@Command(
    name = "existing-job",
    description = "Adds Rankfold to a barrier stage of one's own; prints a digest of column means.")
public final class ExistingBarrierJob implements Callable<Integer> {
  /** A barrier stage's body as Scala's signature wants it. */
  private interface Partition
      extends scala.Function1<
              scala.collection.Iterator<Integer>, scala.collection.Iterator<String>>,
          java.io.Serializable {}

  @Mixin private SparkOptions options = new SparkOptions();
  @Spec private CommandSpec spec;

  @Option(
      names = "--world",
      defaultValue = "8",
      description = "Logical ranks (default: ${DEFAULT-VALUE}).")
  private int world;

  /** The command; options are set by the command line. */
  public ExistingBarrierJob() {}

  @Override
  public Integer call() throws IOException {
    try (SparkSession session = options.session("existing-job")) {
      JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
      for (String digest : digests(spark, world, Math.max(1, options.tasks()))) {
        spec.commandLine().getOut().println("means sha256=" + digest);
      }
    }
    return 0;
  }

  /** The stage as anybody writes it from Java; one digest a task. */
  static List<String> digests(JavaSparkContext spark, int world, int tasks) {
    List<Integer> slots = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      slots.add(task);
    }
    RDD<Integer> rdd = spark.parallelize(slots, tasks).rdd();
    Partition body = ignored -> CollectionConverters.asScala(runTask(world));
    ClassTag<String> strings = ClassTag$.MODULE$.apply(String.class);
    return rdd.barrier().mapPartitions(body, false, strings).toJavaRDD().collect();
  }

  /** What the job's own tasks do. The lines with {@code ranks} are what was added. */
  private static Iterator<String> runTask(int world) {
    List<LabelledRow> all = DigitsData.read();
    try (RankContext ranks = RankContext.open(BarrierTaskContext.get(), world)) {
      List<List<LabelledRow>> rowsByRank = new ArrayList<>();
      for (int r = 0; r < ranks.rankCount(); r++) {
        int rank = ranks.firstRank() + r;
        rowsByRank.add(all.stream().filter(row -> row.id() % world == rank).toList());
      }
      float[] means = ColumnMeans.of(ranks.communicator(), rowsByRank, DigitsData.PIXELS);
      ranks.communicator().barrier();
      return List.of(BitDigest.of(View.of(means))).iterator();
    }
  }
}
