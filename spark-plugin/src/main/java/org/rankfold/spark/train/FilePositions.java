// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import static org.apache.spark.sql.functions.col;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import scala.Tuple2;

/**
 * A file's rows, numbered from 0 in the order of the file, however Spark cut and packed it. Spark
 * cuts files by size and cores and reads a cut's rows in order, one cut after another; each row
 * says its file and where its cut starts. So one pass counts the rows of each cut, and a row's
 * number is the count of the cuts before its own plus its place in its cut.
 */
final class FilePositions {
  private FilePositions() {}

  /** The rows with keys (path below the common folder, number in the file). Runs a job. */
  static JavaRDD<Tuple2<RowKey, Row>> of(Dataset<Row> data) {
    JavaRDD<Row> rows =
        data.select(
                col("*"),
                col("_metadata.file_path").as("rankfold_file_path"),
                col("_metadata.file_block_start").as("rankfold_block_start"))
            .toJavaRDD();
    List<Tuple2<Tuple2<String, Long>, Long>> counts =
        rows.mapPartitions(FilePositions::counted).collect();
    Broadcast<Map<Tuple2<String, Long>, Tuple2<RowKey, Long>>> places =
        JavaSparkContext.fromSparkContext(rows.context()).broadcast(places(counts));
    return rows.mapPartitions(in -> new Numbered(in, places.value()));
  }

  private static Tuple2<String, Long> cutOf(Row row) {
    return new Tuple2<>(row.getString(row.length() - 2), row.getLong(row.length() - 1));
  }

  private static Iterator<Tuple2<Tuple2<String, Long>, Long>> counted(Iterator<Row> rows) {
    List<Tuple2<Tuple2<String, Long>, Long>> counts = new ArrayList<>();
    Tuple2<String, Long> current = null;
    long count = 0;
    while (rows.hasNext()) {
      Tuple2<String, Long> cut = cutOf(rows.next());
      if (!cut.equals(current)) {
        if (current != null) {
          counts.add(new Tuple2<>(current, count));
        }
        current = cut;
        count = 0;
      }
      count++;
    }
    if (current != null) {
      counts.add(new Tuple2<>(current, count));
    }
    return counts.iterator();
  }

  private static Map<Tuple2<String, Long>, Tuple2<RowKey, Long>> places(
      List<Tuple2<Tuple2<String, Long>, Long>> counts) {
    Map<String, TreeMap<Long, Long>> files = new HashMap<>();
    for (Tuple2<Tuple2<String, Long>, Long> count : counts) {
      Tuple2<String, Long> cut = count._1();
      TreeMap<Long, Long> cuts = files.computeIfAbsent(cut._1(), path -> new TreeMap<>());
      if (cuts.put(cut._2(), count._2()) != null) {
        throw CollectiveException.usage(
            ErrorCode.UNORDERED_DATA, "%s from byte %d is read twice", cut._1(), cut._2());
      }
    }
    int common = commonFolder(files.keySet());
    Map<Tuple2<String, Long>, Tuple2<RowKey, Long>> places = new HashMap<>();
    files.forEach(
        (path, cuts) -> {
          RowKey file = RowKey.of(path.substring(common));
          long before = 0;
          for (Map.Entry<Long, Long> cut : cuts.entrySet()) {
            places.put(new Tuple2<>(path, cut.getKey()), new Tuple2<>(file, before));
            before += cut.getValue();
          }
        });
    return places;
  }

  /** The length of the longest folder path, its slash included, that begins all paths. */
  static int commonFolder(Collection<String> paths) {
    String folder = null;
    for (String path : paths) {
      if (folder == null) {
        folder = path.substring(0, path.lastIndexOf('/') + 1);
      }
      while (!path.startsWith(folder)) {
        folder = folder.substring(0, folder.lastIndexOf('/', folder.length() - 2) + 1);
      }
    }
    return folder == null ? 0 : folder.length();
  }

  /** Numbers rows as they pass. */
  private static final class Numbered implements Iterator<Tuple2<RowKey, Row>> {
    private final Iterator<Row> rows;
    private final Map<Tuple2<String, Long>, Tuple2<RowKey, Long>> places;
    private Tuple2<String, Long> cut;
    private Tuple2<RowKey, Long> place;
    private long next;

    Numbered(Iterator<Row> rows, Map<Tuple2<String, Long>, Tuple2<RowKey, Long>> places) {
      this.rows = rows;
      this.places = places;
    }

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public Tuple2<RowKey, Row> next() {
      Row row = rows.next();
      Tuple2<String, Long> at = cutOf(row);
      if (!at.equals(cut)) {
        place = places.get(at);
        if (place == null) {
          throw CollectiveException.usage(
              ErrorCode.UNORDERED_DATA,
              "%s from byte %d had no rows when rows were counted: the file has changed",
              at._1(),
              at._2());
        }
        cut = at;
        next = place._2();
      }
      return new Tuple2<>(place._1().then(RowKey.of(next++)), row);
    }
  }
}
