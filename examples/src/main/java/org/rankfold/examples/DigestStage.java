// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.digest.GoldenRow;
import org.rankfold.spark.Rankfold;

/**
 * Runs rows of one world in one barrier stage: bootstrapping costs a second, a row next to none.
 */
final class DigestStage {
  /**
   * What a task found.
   *
   * @param transport what moved its bytes
   * @param path how pairs of tasks exchanged them
   * @param digests its digest of every row
   */
  record TaskDigests(String transport, String path, List<String> digests) implements Serializable {}

  private final SparkOptions options;
  private final SparkSession session;
  private final Map<String, String> settings;
  private final MemoryKind memory;

  DigestStage(
      SparkOptions options, SparkSession session, Map<String, String> settings, MemoryKind memory) {
    this.options = options;
    this.session = session;
    this.settings = settings;
    this.memory = memory;
  }

  /** Reduces the rows, all of the same world, on every task; blocks until the stage ended. */
  List<TaskDigests> run(List<GoldenRow> rows) {
    Rankfold plan =
        options.plan(session, rows.get(0).contract().world()).name("digest of " + name(rows));
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      plan = plan.set(setting.getKey(), setting.getValue());
    }
    // Rows travel as the table's lines: the contract's types are no business of Spark's serializer.
    List<String> lines = new ArrayList<>(rows.stream().map(DigestStage::line).toList());
    MemoryKind where = memory;
    return plan.run(context -> digests(context.communicator(), lines, where));
  }

  private static TaskDigests digests(
      Communicator communicator, List<String> lines, MemoryKind memory) {
    List<String> digests = new ArrayList<>();
    for (String line : lines) {
      digests.add(DigestJob.digest(communicator, GoldenRow.parse(line), memory));
    }
    CommunicatorInfo info = communicator.info();
    return new TaskDigests(info.transport(), info.path(), digests);
  }

  private static String name(List<GoldenRow> rows) {
    return rows.size() == 1
        ? rows.get(0).describe()
        : rows.size() + " rows, world=" + rows.get(0).contract().world();
  }

  private static String line(GoldenRow row) {
    return String.join(
        "\t",
        row.contract().dtype().label(),
        row.contract().op().label(),
        row.contract().order().label(),
        row.kind().label(),
        Integer.toString(row.contract().world()),
        Long.toString(row.n()),
        Long.toUnsignedString(row.seed()),
        row.sha256());
  }
}
