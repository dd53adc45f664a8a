// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.spark.Rankfold;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Shows what a reduction's bits are, and that a cluster gets them right: reduces generated inputs in
 * a real barrier stage and prints the SHA-256 of the result, or with {@code --golden} checks a table
 * of known answers, every row, in one application with a stage for each world.
 */
@Command(
    name = "digest",
    description = "Prints the digest of a reduction, or checks a table of them.")
public final class DigestCommand implements Callable<Integer> {
  private static final String BUILT_IN = "builtin";

  @Option(names = "--dtype", defaultValue = "f32", description = "f32, f64, f16, bf16, i32, i64.")
  private String dtype;

  @Option(names = "--op", defaultValue = "sum", description = "sum, mean, min, max.")
  private String op;

  @Option(names = "--order", defaultValue = "left", description = "left, tree.")
  private String order;

  @Option(
      names = "--kind",
      defaultValue = "spread",
      description = "uniform, spread, bits, edge, cancel; integers take bits only.")
  private String kind;

  @Option(names = "--world", defaultValue = "5", description = "Logical ranks.")
  private int world;

  @Option(names = "--n", defaultValue = "4097", description = "Elements.")
  private long n;

  @Option(names = "--seed", defaultValue = "42", description = "The inputs' seed.")
  private String seed;

  @Option(names = "--tasks", defaultValue = "2", description = "Spark tasks; never changes a bit.")
  private int tasks;

  @Option(names = "--memory", defaultValue = "HEAP", description = "${COMPLETION-CANDIDATES}.")
  private DigestJob.Memory memory;

  @Option(names = "--path", description = "mapped, staged, mixed.")
  private String path;

  @Option(
      names = "--delivery",
      description = "arrival, ascending, descending, shuffled:SEED; of staged pairs.")
  private String delivery;

  @Option(names = "--chunk-bytes", description = "The stretch in which bytes move.")
  private String chunkBytes;

  @Option(names = "--transport", description = "What moves bytes.")
  private String transport;

  @Option(
      names = "--golden",
      arity = "0..1",
      fallbackValue = BUILT_IN,
      description = "Check all rows of a table (default: the one that ships).")
  private String golden;

  /** The command; options are set by the command line. */
  public DigestCommand() {}

  @Override
  public Integer call() throws IOException {
    List<GoldenRow> rows = golden == null ? List.of(row()) : table();
    try (SparkSession session = SparkSession.builder().appName("digest").getOrCreate()) {
      DigestStages stages = new DigestStages(group(session), tasks, memory);
      return golden == null ? print(rows.get(0), stages) : check(rows, stages);
    }
  }

  private Rankfold group(SparkSession session) {
    Rankfold group = Rankfold.on(session).name("digest");
    group = path == null ? group : group.set("spark.rankfold.path", path);
    group = delivery == null ? group : group.set("spark.rankfold.loopback.delivery", delivery);
    group = chunkBytes == null ? group : group.set("spark.rankfold.chunk.bytes", chunkBytes);
    return transport == null ? group : group.set("spark.rankfold.transport", transport);
  }

  private GoldenRow row() {
    return GoldenRow.parse(
        String.join(
            "\t", dtype, op, order, kind, Integer.toString(world), Long.toString(n), seed, ""));
  }

  private List<GoldenRow> table() throws IOException {
    if (golden.equals(BUILT_IN)) {
      return GoldenTable.rows();
    }
    return Files.readAllLines(Path.of(golden)).stream()
        .filter(line -> !line.isBlank() && !line.equals(GoldenRow.HEADER))
        .map(GoldenRow::parse)
        .toList();
  }

  private static int print(GoldenRow row, DigestStages stages) {
    List<DigestStages.Answer> answers = stages.reduce(List.of(row)).get(0);
    DigestStages.Answer first = answers.get(0);
    if (answers.stream().distinct().count() > 1) {
      System.out.println("digest " + row.describe() + " tasks disagree: " + answers);
      return 1;
    }
    System.out.printf(
        Locale.ROOT,
        "digest %s tasks=%d transport=%s path=%s sha256=%s%n",
        row.describe(),
        answers.size(),
        first.transport(),
        first.path(),
        first.sha256());
    return 0;
  }

  private static int check(List<GoldenRow> rows, DigestStages stages) {
    List<GoldenRow> wrong = new ArrayList<>();
    for (List<GoldenRow> alike :
        rows.stream().collect(Collectors.groupingBy(row -> row.contract().world())).values()) {
      List<List<DigestStages.Answer>> answers = stages.reduce(alike);
      for (int i = 0; i < alike.size(); i++) {
        GoldenRow row = alike.get(i);
        for (DigestStages.Answer answer : answers.get(i)) {
          if (!answer.sha256().equals(row.sha256())) {
            System.out.println(
                "wrong: " + row.describe() + " sha256=" + answer.sha256() + " != " + row.sha256());
            wrong.add(row);
            break;
          }
        }
      }
    }
    System.out.printf(
        Locale.ROOT, "golden: %d ok, %d wrong%n", rows.size() - wrong.size(), wrong.size());
    return wrong.isEmpty() ? 0 : 1;
  }
}
