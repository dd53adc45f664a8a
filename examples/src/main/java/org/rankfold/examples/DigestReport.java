// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.rankfold.digest.GoldenRow;

/** What the {@code digest} command prints, and the exit code that its findings deserve. */
final class DigestReport {
  private final PrintWriter out;
  private final PrintWriter err;

  DigestReport(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  /** Prints the digest all tasks agree on, or who disagrees. */
  int one(DigestStage stage, GoldenRow row) {
    return one(row, stage.run(List.of(row)));
  }

  int one(GoldenRow row, List<DigestStage.TaskDigests> tasks) {
    Map<String, String> byDigest = tasksByDigest(tasks, 0);
    boolean agreed = byDigest.size() == 1;
    String line =
        "digest "
            + row.describe()
            + " tasks="
            + tasks.size()
            + " transport="
            + tasks.get(0).transport()
            + " path="
            + tasks.get(0).path();
    if (agreed) {
      out.println(line + " sha256=" + byDigest.keySet().iterator().next());
    } else {
      err.println("rankfold: tasks disagree: " + line + " " + byDigest);
    }
    out.flush();
    err.flush();
    return agreed ? RankfoldCommand.OK : RankfoldCommand.DISAGREE;
  }

  /** Runs a table, a stage for each world, prints every wrong row and the counts. */
  int table(DigestStage stage, List<GoldenRow> rows) {
    Map<Integer, List<GoldenRow>> byWorld =
        rows.stream()
            .collect(
                Collectors.groupingBy(
                    row -> row.contract().world(), TreeMap::new, Collectors.toList()));
    int wrong = 0;
    for (List<GoldenRow> sameWorld : byWorld.values()) {
      wrong += wrong(sameWorld, stage.run(sameWorld));
    }
    out.println("golden: " + (rows.size() - wrong) + " ok, " + wrong + " wrong");
    out.flush();
    return wrong == 0 ? RankfoldCommand.OK : RankfoldCommand.DISAGREE;
  }

  /** Prints and counts the rows whose digest a task does not reach. */
  int wrong(List<GoldenRow> rows, List<DigestStage.TaskDigests> tasks) {
    int wrong = 0;
    for (int i = 0; i < rows.size(); i++) {
      Map<String, String> byDigest = tasksByDigest(tasks, i);
      if (byDigest.size() > 1 || !byDigest.containsKey(rows.get(i).sha256())) {
        wrong++;
        out.println(
            "wrong "
                + rows.get(i).describe()
                + " tasks="
                + tasks.size()
                + " "
                + byDigest
                + " != "
                + rows.get(i).sha256());
      }
    }
    return wrong;
  }

  /** Each digest with the tasks that found it. */
  private static Map<String, String> tasksByDigest(List<DigestStage.TaskDigests> tasks, int row) {
    Map<String, String> byDigest = new TreeMap<>();
    for (int task = 0; task < tasks.size(); task++) {
      byDigest.merge(
          tasks.get(task).digests().get(row), "task " + task, (all, one) -> all + ", " + one);
    }
    return byDigest;
  }
}
