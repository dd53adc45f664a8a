// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.digest.GoldenRow;
import org.rankfold.spark.RankContext;
import org.rankfold.spark.Rankfold;

/** Reduces rows of one world in one barrier stage: a group forms once, then row follows row. */
final class DigestStages {
  /** What a task got for a row. */
  record Answer(String sha256, String transport, String path) implements Serializable {}

  private final Rankfold group;
  private final int mostTasks;
  private final DigestJob.Memory memory;

  DigestStages(Rankfold group, int mostTasks, DigestJob.Memory memory) {
    this.group = group;
    this.mostTasks = mostTasks;
    this.memory = memory;
  }

  /** All tasks' answers to every row; rows have one world, of which tasks never exceed the size. */
  List<List<Answer>> reduce(List<GoldenRow> rows) {
    int world = rows.get(0).contract().world();
    int tasks = Math.min(mostTasks, world);
    List<String> lines = rows.stream().map(DigestStages::line).toList();
    DigestJob.Memory where = memory;
    List<ArrayList<Answer>> byTask =
        group.world(world).tasks(tasks).run(context -> answers(context, lines, where));
    List<List<Answer>> byRow = new ArrayList<>();
    for (int row = 0; row < rows.size(); row++) {
      int index = row;
      byRow.add(byTask.stream().map(answers -> answers.get(index)).toList());
    }
    return byRow;
  }

  private static ArrayList<Answer> answers(
      RankContext context, List<String> lines, DigestJob.Memory memory) {
    ArrayList<Answer> answers = new ArrayList<>();
    String transport = context.communicator().info().transport();
    for (String line : lines) {
      context.checkAbort();
      String sha256 = DigestJob.digest(context.communicator(), GoldenRow.parse(line), memory);
      answers.add(new Answer(sha256, transport, context.path()));
    }
    return answers;
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
