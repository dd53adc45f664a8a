// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.rankfold.spark.train.KeyedRows;
import org.rankfold.spark.train.RowKey;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Shows training to the same bits on any number of tasks: an MLP 64-64-10 on the UCI optical digits
 * that ship with the examples. Prints a line an epoch, the accuracy on a held-out fifth and the
 * SHA-256 of the final parameters, which depends on world, seed, epochs, batch and learning rate
 * alone.
 */
@Command(name = "digits", description = "Trains a classifier of handwritten digits.")
public final class DigitsCommand implements Callable<Integer> {
  private static final TrainingRun.Defaults DEFAULTS =
      new TrainingRun.Defaults(40, 64, 0.02f, 0.01f);
  private static final int HIDDEN = 64;

  @Mixin private SparkOptions options = new SparkOptions();
  @Mixin private TrainingRun run = new TrainingRun();
  @Spec private CommandSpec spec;

  /** The command; options are set by the command line. */
  public DigitsCommand() {}

  @Override
  public Integer call() throws IOException {
    try (SparkSession session = options.session("digits")) {
      JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
      List<LabelledRow> all = DigitsData.read();
      run.run(
          "digits",
          new MlpModel(DigitsData.PIXELS, HIDDEN, DigitsData.CLASSES),
          DEFAULTS,
          keyed(spark, all.stream().filter(row -> !DigitsData.isHeldOut(row.id())).toList()),
          keyed(spark, all.stream().filter(row -> DigitsData.isHeldOut(row.id())).toList()),
          options.tasks(),
          spec.commandLine().getOut());
    }
    return 0;
  }

  private static KeyedRows<LabelledRow> keyed(JavaSparkContext spark, List<LabelledRow> rows) {
    JavaRDD<LabelledRow> rdd = spark.parallelize(rows);
    return KeyedRows.of(rdd, row -> RowKey.of(row.id()));
  }
}
