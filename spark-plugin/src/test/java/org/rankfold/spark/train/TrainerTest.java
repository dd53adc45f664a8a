// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Training from files on sessions of different sizes. */
class TrainerTest {
  private static final int ROWS = 600;
  private static final String JAVA = "org.apache.spark.serializer.JavaSerializer";
  private static final String KRYO = "org.apache.spark.serializer.KryoSerializer";
  private static final RowDecoder<Sample> DECODER =
      row -> new Sample(row.getInt(0), row.getDouble(1), row.getDouble(2), row.getInt(3));

  private static SparkSession session(int cores) {
    return SparkSession.builder()
        .master("local[" + cores + "]")
        .appName("trainer")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.files.openCostInBytes", "1")
        .config("spark.serializer", cores == 4 ? KRYO : JAVA)
        .getOrCreate();
  }

  /** Three files of different lengths, so that Spark packs and cuts them by cores. */
  private static void writeCsv(Path folder) throws IOException {
    List<Sample> samples = Sample.many(ROWS);
    int[] ends = {0, 130, 430, ROWS};
    for (int f = 0; f < 3; f++) {
      List<String> lines = new ArrayList<>();
      for (Sample s : samples.subList(ends[f], ends[f + 1])) {
        lines.add(s.id() + "," + s.first() + "," + s.second() + "," + s.label());
      }
      Files.write(folder.resolve("part" + f + ".csv"), lines);
    }
  }

  private static Dataset<Row> read(SparkSession spark, Path folder) {
    return spark
        .read()
        .schema("id INT, first DOUBLE, second DOUBLE, label INT")
        .csv(folder.toString());
  }

  private static Trainer.Builder<Sample> trainer(int tasks) {
    return Trainer.builder(new Logistic())
        .world(8)
        .tasks(tasks)
        .globalBatch(100)
        .epochs(2)
        .optimizer(new Sgd(0.5f).withMomentum(0.9f))
        .seed(42);
  }

  @Test
  void shouldTrainToOneHashWhenCoresDiffer(@TempDir Path folder) throws IOException {
    writeCsv(folder);
    List<String> byKey = new ArrayList<>();
    List<String> byPosition = new ArrayList<>();
    List<List<Long>> sparkOrders = new ArrayList<>();
    List<List<EpochReport>> epochs = new ArrayList<>();
    for (int cores : new int[] {2, 4, 8}) {
      try (SparkSession spark = session(cores)) {
        Dataset<Row> data = read(spark, folder);
        sparkOrders.add(data.toJavaRDD().map(row -> (long) row.getInt(0)).collect());
        List<EpochReport> heard = new ArrayList<>();
        KeyedRows<Sample> rows = KeyedRows.byColumns(data, DECODER, "id");
        TrainedModel trained = trainer(cores).onEpoch(heard::add).build().fit(rows, rows);
        assertThat(heard).isEqualTo(trained.epochs());
        assertThat(trained.rows()).isEqualTo(ROWS);
        assertThat(trained.steps()).isEqualTo(12);
        byKey.add(trained.sha256());
        epochs.add(trained.epochs());
        byPosition.add(
            trainer(cores).build().fit(KeyedRows.byFilePosition(data, DECODER)).sha256());
      }
    }
    assertThat(sparkOrders.stream().distinct().count())
        .as("orders of Spark's own: equal ones would prove nothing here")
        .isGreaterThan(1);
    assertThat(byKey).containsOnly(byKey.get(0));
    assertThat(byPosition).containsOnly(byPosition.get(0));
    assertThat(epochs).containsOnly(epochs.get(0));
    assertThat(epochs.get(0).get(1).heldOut().accuracy()).isGreaterThan(0.8);
  }

  @Test
  void shouldDefineTheOutcomeWhenRowsAreFewOrUnordered(@TempDir Path folder) throws IOException {
    writeCsv(folder);
    try (SparkSession spark = session(4)) {
      JavaSparkContext sc = JavaSparkContext.fromSparkContext(spark.sparkContext());
      Dataset<Row> data = read(spark, folder);

      // Fewer rows than logical ranks, most partitions empty.
      List<Sample> three = Sample.many(3);
      KeyFunction<Sample> byId = sample -> RowKey.of(sample.id());
      String few = trainer(4).build().fit(KeyedRows.of(sc.parallelize(three, 7), byId)).sha256();
      assertThat(trainer(1).build().fit(KeyedRows.byPosition(sc.parallelize(three, 1))).sha256())
          .isEqualTo(few);

      assertUnordered(
          () -> KeyedRows.byPosition(sc.parallelize(three, 2).repartition(3)), "give a key");
      assertUnordered(
          () -> KeyedRows.byPosition(data.toJavaRDD().map(DECODER::decode)),
          "comes from SQLExecutionRDD");
      assertUnordered(() -> KeyedRows.byColumns(data, DECODER), "byFilePosition");
      assertUnordered(
          () -> KeyedRows.byColumns(data.selectExpr("*", "rand() r"), DECODER, "id"), "rand()");
      assertUnordered(() -> KeyedRows.byColumns(data.sample(0.5), DECODER, "id"), "sample");
      assertUnordered(() -> KeyedRows.byColumns(data.limit(5), DECODER, "id"), "without a sort");
      assertThat(KeyedRows.byColumns(data.orderBy("id").limit(5), DECODER, "id")).isNotNull();
      assertUnordered(
          () -> KeyedRows.byFilePosition(data.orderBy("id"), DECODER), "no file position");
      assertThatThrownBy(() -> KeyedRows.byColumns(data, DECODER, "nr"))
          .isInstanceOf(CollectiveException.class)
          .hasMessage("key column 'nr' is not one of the Dataset's [id, first, second, label]");

      assertThatThrownBy(
              () -> trainer(2).build().fit(KeyedRows.of(sc.parallelize(List.of(), 2), byId)))
          .satisfies(e -> assertThat(causes(e)).contains("rows=0"));
      assertThatThrownBy(() -> trainer(2).build().fit(KeyedRows.byColumns(data, DECODER, "label")))
          .satisfies(e -> assertThat(causes(e)).contains("belongs to two different rows"));
    }
  }

  @Test
  void shouldSayWhyBeforeAnyTaskStartsWhenThereIsNoDevice() throws IOException {
    CudaProbe probe = CudaProbe.process();
    Assumptions.assumeFalse(probe.isAvailable(), "there is a device: " + probe.versions());
    try (SparkSession spark = session(2)) {
      JavaSparkContext sc = JavaSparkContext.fromSparkContext(spark.sparkContext());
      KeyedRows<Sample> rows =
          KeyedRows.of(sc.parallelize(Sample.many(9), 2), sample -> RowKey.of(sample.id()));
      assertUnsupported(
          () -> trainer(2).device(ComputeDevice.GPU).build().fit(rows), probe.reason());
      assertThat(sc.statusTracker().getJobIdsForGroup(null)).isEmpty();
      assertThat(trainer(2).device(ComputeDevice.CPU).build().fit(rows).sha256()).isNotEmpty();
      assertThat(sc.statusTracker().getJobIdsForGroup(null)).isNotEmpty();
    }
  }

  @Test
  void shouldNameTheModelWhenItHasNoHalfForADevice() {
    assertUnsupported(
        () -> new Logistic().on(null),
        "model org.rankfold.spark.train.Logistic does not override GradientModel.on: it computes on"
            + " the CPU only");
  }

  private static void assertUnsupported(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            CollectiveException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
        .hasMessage(message);
  }

  private static String causes(Throwable thrown) {
    return thrown == null ? "" : thrown + "\n" + causes(thrown.getCause());
  }

  private static void assertUnordered(ThrowingCallable call, String says) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.UNORDERED_DATA))
        .hasMessageContaining(says);
  }
}
