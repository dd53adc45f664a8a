// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.spark.sql.SparkSession;
import org.rankfold.config.ConfigKeys;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.InputKind;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.RankTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Shows that a cluster keeps the contract: reduces generated inputs in a barrier stage and prints
 * the SHA-256 of the result, which an independent oracle knows for the rows of its table. Exits
 * with 1 when tasks disagree, or when a row of {@code --golden} is wrong.
 */
@Command(
    name = "digest",
    description = "Reduces generated inputs and prints the digest of the result.")
final class DigestCommand implements Callable<Integer> {
  private static final String BUILT_IN = "builtin";

  @Mixin private SparkOptions spark = new SparkOptions();
  @Mixin private GroupOptions group = new GroupOptions();
  @Spec private CommandSpec spec;

  @Option(names = "--dtype", defaultValue = "f32", description = "f32, f64, f16, bf16, i32, i64")
  private String dtype;

  @Option(names = "--op", defaultValue = "sum", description = "sum, mean, min, max")
  private String op;

  @Option(names = "--order", defaultValue = "left", description = "left, tree")
  private String order;

  @Option(
      names = "--kind",
      description =
          "uniform, spread, bits, edge, cancel; integers have bits only"
              + " (default: spread, bits for integers)")
  private String kind;

  @Option(
      names = "--world",
      defaultValue = "5",
      description = "Logical ranks (default: ${DEFAULT-VALUE}).")
  private int world;

  @Option(
      names = "--n",
      defaultValue = "4097",
      description = "Elements of an addend (default: ${DEFAULT-VALUE}).")
  private long n;

  @Option(
      names = "--seed",
      defaultValue = "42",
      description = "The inputs' seed, 64 bits (default: ${DEFAULT-VALUE}).")
  private String seed;

  @Option(
      names = "--delivery",
      paramLabel = "ORDER",
      description = "Of staged addends: arrival, ascending, descending, shuffled:SEED.")
  private String delivery;

  @Option(
      names = "--golden",
      arity = "0..1",
      fallbackValue = BUILT_IN,
      paramLabel = "FILE",
      description = "Check every row of a table instead; without a file, of the built-in one.")
  private String golden;

  /** The command; options are set by the command line. */
  DigestCommand() {}

  @Override
  public Integer call() throws IOException {
    Map<String, String> more =
        delivery == null ? Map.of() : Map.of(ConfigKeys.DELIVERY.name(), delivery);
    Map<String, String> settings = group.settings(spec, more);
    List<GoldenRow> rows = checked(this::rows);
    try (SparkSession session = spark.session("digest")) {
      DigestStage stage = new DigestStage(spark, session, settings, group.memory(MemoryKind.HEAP));
      DigestReport report =
          new DigestReport(spec.commandLine().getOut(), spec.commandLine().getErr());
      return golden == null ? report.one(stage, rows.get(0)) : report.table(stage, rows);
    }
  }

  private List<GoldenRow> rows() {
    if (golden == null) {
      return List.of(row());
    }
    if (golden.equals(BUILT_IN)) {
      return GoldenTable.builtIn();
    }
    Path file = Path.of(golden);
    if (!Files.isReadable(file)) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "golden=%s is no file that can be read", golden);
    }
    return GoldenTable.read(file);
  }

  private GoldenRow row() {
    DType type = DType.ofLabel(dtype);
    InputKind inputs =
        kind != null
            ? InputKind.ofLabel(kind)
            : type.isFloating() ? InputKind.SPREAD : InputKind.BITS;
    if (!type.isFloating() && inputs != InputKind.BITS) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "kind=%s != bits, all that %s has", kind, type.label());
    }
    if (n < 0 || n > Integer.MAX_VALUE / type.bytes()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "n=%d is not between 0 and %d",
          n,
          Integer.MAX_VALUE / type.bytes());
    }
    if (spark.tasks() != 0) {
      new RankTable(world, spark.tasks());
    }
    ReduceContract contract =
        new ReduceContract(type, ReduceOp.ofLabel(op), FoldOrder.ofLabel(order), world);
    return new GoldenRow(contract, inputs, n, seedBits(), "");
  }

  private long seedBits() {
    try {
      return seed.startsWith("-") ? Long.parseLong(seed) : Long.parseUnsignedLong(seed);
    } catch (NumberFormatException e) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "seed=%s is no number of 64 bits", seed);
    }
  }

  /** What is wrong with the command line is usage, not a failure. */
  private <T> T checked(Callable<T> conclusion) {
    try {
      return conclusion.call();
    } catch (CollectiveException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    } catch (Exception e) {
      throw new ParameterException(spec.commandLine(), e.toString(), e);
    }
  }
}
