// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.rankfold.spark.train.KeyedRows;
import org.rankfold.spark.train.RowKey;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Shows the same as {@link DigitsCommand} on a larger job: an MLP 784-128-10 on Fashion-MNIST,
 * 60,000 rows to train on and 10,000 held out. Executors read the files for themselves, so the
 * folder must be there on every host.
 */
@Command(name = "fashion", description = "Trains a classifier of Fashion-MNIST.")
public final class FashionCommand implements Callable<Integer> {
  private static final TrainingRun.Defaults DEFAULTS =
      new TrainingRun.Defaults(20, 256, 0.001f, 0.01f);
  private static final int HIDDEN = 128;

  /** Reads all rows of a file, on whichever host it runs. */
  private interface Reader extends Serializable {
    List<LabelledRow> read() throws IOException;
  }

  @Mixin private SparkOptions options = new SparkOptions();
  @Mixin private TrainingRun run = new TrainingRun();
  @Spec private CommandSpec spec;

  @Option(
      names = "--data",
      description =
          "Folder of the four IDX files, plain or gz (default: where Debian's"
              + " dataset-fashion-mnist puts them).")
  private Path data = IdxData.FASHION_FOLDER;

  /** The command; options are set by the command line. */
  public FashionCommand() {}

  @Override
  public Integer call() throws IOException {
    String folder = data.toAbsolutePath().toString();
    int pixels = new IdxData(data).readTest().get(0).features().length;
    try (SparkSession session = options.session("fashion")) {
      JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
      run.run(
          "fashion",
          new MlpModel(pixels, HIDDEN, IdxData.CLASSES),
          DEFAULTS,
          keyed(spark, () -> new IdxData(Path.of(folder)).readTraining()),
          keyed(spark, () -> new IdxData(Path.of(folder)).readTest()),
          options.tasks(),
          spec.commandLine().getOut());
    }
    return 0;
  }

  /** Every partition reads the file and keeps its share of the rows. */
  private static KeyedRows<LabelledRow> keyed(JavaSparkContext spark, Reader reader) {
    int partitions = spark.defaultParallelism();
    List<Integer> numbers = new ArrayList<>();
    for (int partition = 0; partition < partitions; partition++) {
      numbers.add(partition);
    }
    return KeyedRows.of(
        spark
            .parallelize(numbers, partitions)
            .flatMap(
                number ->
                    reader.read().stream()
                        .filter(row -> row.id() % partitions == number)
                        .iterator()),
        row -> RowKey.of(row.id()));
  }
}
