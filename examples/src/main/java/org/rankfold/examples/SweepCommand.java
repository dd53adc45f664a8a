// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.SparkSession;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.spark.Rankfold;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures the all-reduce of a cluster over sizes, one logical rank a task unless told otherwise,
 * in the columns of nccl-tests, and checks every result's bits while it does. Exits with 1 when an
 * element is wrong.
 */
@Command(name = "sweep", description = "Times all-reduces of growing size and checks their bits.")
final class SweepCommand implements Callable<Integer> {
  private static final int DEFAULT_WORLD = 2;
  private static final long MOST_BYTES = 1L << 30;

  @Mixin private SparkOptions spark = new SparkOptions();
  @Mixin private GroupOptions options = new GroupOptions();
  @Spec private CommandSpec spec;

  @Option(names = "--min", defaultValue = "1k", description = "Least size (${DEFAULT-VALUE}).")
  private String least;

  @Option(names = "--max", defaultValue = "256m", description = "Largest size (${DEFAULT-VALUE}).")
  private String most;

  @Option(
      names = "--factor",
      defaultValue = "4",
      description = "From a size to the next (${DEFAULT-VALUE}).")
  private int factor;

  @Option(
      names = "--calls",
      defaultValue = "0",
      description = "Timed calls of a size (default: by size).")
  private int calls;

  @Option(names = "--world", description = "Logical ranks (default: the tasks, or 2).")
  private int world;

  @Option(names = "--dtype", defaultValue = "f32", description = "f32, f64, f16, bf16, i32, i64")
  private String dtype;

  @Option(names = "--op", defaultValue = "sum", description = "sum, mean, min, max")
  private String op;

  @Option(names = "--order", defaultValue = "left", description = "left, tree")
  private String order;

  @Option(names = "--csv", paramLabel = "FILE", description = "Write the table there too.")
  private Path csv;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the table there too.")
  private Path json;

  /** The command; options are set by the command line. */
  SweepCommand() {}

  /** What a task reports. */
  private record TaskSweep(
      String transport, String path, int world, int tasks, List<SweepJob.Size> sizes)
      implements Serializable {
    static TaskSweep of(Communicator communicator, SweepJob.Plan plan) {
      List<SweepJob.Size> sizes = SweepJob.run(communicator, plan);
      CommunicatorInfo info = communicator.info();
      return new TaskSweep(info.transport(), info.path(), info.world(), info.tasks(), sizes);
    }
  }

  @Override
  public Integer call() throws IOException {
    Map<String, String> settings = options.settings(spec, Map.of());
    SweepJob.Plan plan = checked(this::plan);
    try (SparkSession session = spark.session("sweep")) {
      int ranks = world != 0 ? world : spark.tasks() != 0 ? spark.tasks() : DEFAULT_WORLD;
      Rankfold group = spark.plan(session, ranks).name("sweep");
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        group = group.set(setting.getKey(), setting.getValue());
      }
      List<TaskSweep> swept = group.run(context -> TaskSweep.of(context.communicator(), plan));
      return report(plan, swept.get(0));
    }
  }

  private int report(SweepJob.Plan plan, TaskSweep first) throws IOException {
    SweepReport report =
        new SweepReport(plan, first.transport(), first.path(), first.world(), first.tasks());
    report.print(first.sizes(), spec.commandLine().getOut());
    if (csv != null) {
      report.writeCsv(first.sizes(), csv);
    }
    if (json != null) {
      report.writeJson(first.sizes(), json);
    }
    return SweepReport.wrong(first.sizes()) == 0 ? RankfoldCommand.OK : RankfoldCommand.DISAGREE;
  }

  private SweepJob.Plan plan() {
    long from = JavaUtils.byteStringAsBytes(least);
    long to = JavaUtils.byteStringAsBytes(most);
    if (from < 8 || to > MOST_BYTES || from > to || factor < 2) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "min=%d max=%d factor=%d: 8 <= min <= max <= %d and factor >= 2 are wanted",
          from,
          to,
          factor,
          MOST_BYTES);
    }
    List<Long> sizes = new ArrayList<>();
    for (long bytes = from; bytes <= to; bytes *= factor) {
      sizes.add(bytes);
    }
    return new SweepJob.Plan(
        DType.ofLabel(dtype),
        ReduceOp.ofLabel(op),
        FoldOrder.ofLabel(order),
        sizes,
        options.memory(MemoryKind.ARENA),
        calls);
  }

  /** What is wrong with the command line is usage, not a failure. */
  private <T> T checked(Callable<T> conclusion) {
    try {
      return conclusion.call();
    } catch (Exception e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }
}
