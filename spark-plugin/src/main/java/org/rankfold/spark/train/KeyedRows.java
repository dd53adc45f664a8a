// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import scala.Tuple2;

/**
 * Rows of Spark with the keys that place and order them, whatever order Spark has them in: that
 * order depends on the number of cores and Spark does not say so. See {@link RowKey} for where a
 * key's rows go.
 *
 * <p>Keys are unique. Rows that share a key are refused (UNORDERED_DATA, naming the key) when the
 * training takes them in, unless they serialize to equal bytes.
 *
 * <p>What lies before the rows is the caller's: a query that sums floating-point numbers over a
 * shuffle, for example, gives them other bits on another number of cores.
 *
 * @param <R> a row; serializable by Spark's serializer
 */
public final class KeyedRows<R> {
  private final JavaPairRDD<RowKey, R> rows;

  private KeyedRows(JavaPairRDD<RowKey, R> rows) {
    this.rows = rows;
  }

  /**
   * Rows of an RDD by keys of their own.
   *
   * @param rows in any order
   * @param key what a row is known by
   * @param <R> a row
   * @return the keyed rows
   */
  public static <R> KeyedRows<R> of(JavaRDD<R> rows, KeyFunction<R> key) {
    Objects.requireNonNull(key, "key");
    return new KeyedRows<>(rows.mapToPair(row -> new Tuple2<>(keyOf(key, row), row)));
  }

  /**
   * Rows of an RDD by their position in it. For RDDs whose order is the program's own: lists given
   * to {@code parallelize}, and what maps, filters or unites them row by row. Runs a job that
   * counts rows.
   *
   * @param rows in an order that neither cores nor partitions nor a file system decide
   * @param <R> a row
   * @return the keyed rows
   * @throws CollectiveException UNORDERED_DATA when Spark or the lineage says that the order may be
   *     another one next time (shuffled, coalesced, read from files)
   */
  public static <R> KeyedRows<R> byPosition(JavaRDD<R> rows) {
    PositionCheck.requireStable(rows.rdd());
    return new KeyedRows<>(
        rows.zipWithIndex().mapToPair(at -> new Tuple2<>(RowKey.of(at._2()), at._1())));
  }

  /**
   * Rows of a Dataset by columns.
   *
   * @param data in any order
   * @param decoder makes a training row of a row
   * @param keyColumns at least one; together they tell rows apart; numbers, text, booleans, binary,
   *     dates and timestamps
   * @param <R> a training row
   * @return the keyed rows
   * @throws CollectiveException UNORDERED_DATA without key columns, or when the query draws random
   *     numbers, samples or takes a limit without a sort; INVALID_ARGUMENT for a column that is not
   *     there or not of such a type; UNSUPPORTED for a Dataset of Spark Connect
   */
  public static <R> KeyedRows<R> byColumns(
      Dataset<Row> data, RowDecoder<R> decoder, String... keyColumns) {
    Objects.requireNonNull(decoder, "decoder");
    if (keyColumns.length == 0) {
      throw CollectiveException.usage(
          ErrorCode.UNORDERED_DATA,
          "key columns=0: Spark's row order depends on the number of cores; name columns that tell"
              + " rows apart, of %s, or use KeyedRows.byFilePosition",
          Arrays.toString(data.columns()));
    }
    QueryCheck.requireRepeatable(QueryCheck.plan(data));
    int[] columns = indices(data.schema(), keyColumns);
    return new KeyedRows<>(
        data.toJavaRDD().mapToPair(row -> new Tuple2<>(keyOf(row, columns), decoder.decode(row))));
  }

  /**
   * Rows of a Dataset that reads files, by file and row position: the file's path below the folder
   * that all files have in common, and the row's number among the file's rows that the query keeps.
   * For any format, however Spark splits the files; moving the folder changes nothing, renaming a
   * file does. Runs a job that counts rows, so files are read twice.
   *
   * @param data files read, then at most columns chosen or computed and rows filtered
   * @param decoder makes a training row of a row
   * @param <R> a training row
   * @return the keyed rows
   * @throws CollectiveException UNORDERED_DATA for any other query, or when a file is read twice;
   *     UNSUPPORTED for a Dataset of Spark Connect
   */
  public static <R> KeyedRows<R> byFilePosition(Dataset<Row> data, RowDecoder<R> decoder) {
    Objects.requireNonNull(decoder, "decoder");
    QueryCheck.requirePlainScan(QueryCheck.plan(data));
    return new KeyedRows<>(
        FilePositions.of(data).mapToPair(at -> new Tuple2<>(at._1(), decoder.decode(at._2()))));
  }

  /** The application the rows belong to. */
  JavaSparkContext spark() {
    return JavaSparkContext.fromSparkContext(rows.context());
  }

  /** The rows with their logical ranks. */
  JavaRDD<KeyedRow<R>> placed(int world, boolean heldOut) {
    return rows.map(
        keyed -> new KeyedRow<>(keyed._1().rank(world), heldOut, keyed._1(), keyed._2()));
  }

  private static <R> RowKey keyOf(KeyFunction<R> function, R row) {
    RowKey key = function.keyOf(row);
    if (key == null) {
      throw CollectiveException.usage(ErrorCode.INVALID_ARGUMENT, "key=null of row %s", row);
    }
    return key;
  }

  private static RowKey keyOf(Row row, int[] columns) {
    RowKey key = RowKey.ofValue(row.get(columns[0]));
    for (int c = 1; c < columns.length; c++) {
      key = key.then(RowKey.ofValue(row.get(columns[c])));
    }
    return key;
  }

  private static int[] indices(StructType schema, String[] keyColumns) {
    int[] indices = new int[keyColumns.length];
    List<String> names = Arrays.asList(schema.fieldNames());
    for (int c = 0; c < keyColumns.length; c++) {
      indices[c] = names.indexOf(keyColumns[c]);
      if (indices[c] < 0) {
        throw CollectiveException.usage(
            ErrorCode.INVALID_ARGUMENT,
            "key column '%s' is not one of the Dataset's %s",
            keyColumns[c],
            names);
      }
      DataType type = schema.fields()[indices[c]].dataType();
      if (!isKeyType(type)) {
        throw CollectiveException.usage(
            ErrorCode.INVALID_ARGUMENT,
            "key column '%s' of type %s: keys are numbers, text, booleans, binary, dates and"
                + " timestamps",
            keyColumns[c],
            type.simpleString());
      }
    }
    return indices;
  }

  private static boolean isKeyType(DataType type) {
    return type instanceof NumericType
        || type instanceof StringType
        || type instanceof BooleanType
        || type instanceof BinaryType
        || type instanceof DateType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType;
  }
}
