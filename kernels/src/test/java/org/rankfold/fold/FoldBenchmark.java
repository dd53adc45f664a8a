// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.view.View;

/**
 * A fold beside a plain copy: each invocation copies once and folds once, in the processor time of
 * the thread, so that a busy machine shifts both alike. Gigabytes are read plus written: 2 n of the
 * copy, (L + 1) n of the fold. The copy goes round all arrays of the fold, so that its memory is as
 * cold. First all loops of the fold meet every type, operation, order and kind of memory.
 *
 * <p>{@code main} takes JMH's options, runs with them and prints the medians as a table.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 1, time = 1)
@Measurement(iterations = 1, time = 2)
@Fork(1)
public class FoldBenchmark {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** A name of {@link Folds}. */
  @Param({"lane-plain", "lane-vector"})
  public String fold;

  /** A label of {@link DType}. */
  @Param({"f32", "f64", "bf16", "f16"})
  public String dtype;

  /** Where the views lie. */
  @Param({"heap", "direct"})
  public String memory;

  /** The size of one addend. */
  @Param({"4", "16", "64"})
  public int mib;

  /** Addends. */
  @Param({"4", "8"})
  public int world;

  /** A label of {@link FoldOrder}. */
  @Param({"left"})
  public String order;

  private Fold candidate;
  private ReduceContract contract;
  private View[] addends;
  private View[] outs;
  private View[] ring;
  private int turn;

  /** The medians of an iteration; JMH adds up its iterations, so there is one. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Medians {
    /** Of the copy. */
    public double copyGBs;

    /** Of the fold. */
    public double foldGBs;

    /** Of fold over copy, each invocation its own. */
    public double ratio;

    private final double[] copies = new double[1 << 16];
    private final double[] folds = new double[1 << 16];
    private final double[] ratios = new double[1 << 16];
    private int count;

    /** Forgets the warm-up. */
    @Setup(Level.Iteration)
    public void clear() {
      count = 0;
    }

    void add(double copy, double fold) {
      if (count < copies.length) {
        copies[count] = copy;
        folds[count] = fold;
        ratios[count++] = fold / copy;
      }
    }

    /** Concludes. */
    @TearDown(Level.Iteration)
    public void conclude() {
      copyGBs = median(copies);
      foldGBs = median(folds);
      ratio = median(ratios);
    }

    private double median(double[] values) {
      double[] own = Arrays.copyOf(values, count);
      Arrays.sort(own);
      return own[count / 2];
    }
  }

  /** Meets everything, then makes the views. */
  @Setup
  public void prepare() {
    candidate = Folds.named(fold);
    for (int round = 0; round < 12; round++) {
      meetEverything(5000 + round);
    }
    DType type = DType.ofLabel(dtype);
    TestMemory place = TestMemory.valueOf(memory.toUpperCase(Locale.ROOT));
    contract = new ReduceContract(type, ReduceOp.SUM, FoldOrder.ofLabel(order), world);
    int n = (mib << 20) / type.bytes();
    addends = new View[world];
    for (int r = 0; r < world; r++) {
      addends[r] = place.view(type, n, r);
      fill(addends[r], r);
    }
    outs = new View[] {place.view(type, n, world)};
    ring = Arrays.copyOf(addends, world + 1);
    ring[world] = outs[0];
  }

  private static void fill(View view, int rank) {
    View pattern = view.slice(0, 1 << 16);
    OracleInputs.fill(pattern, InputKind.UNIFORM, 42, rank, 0);
    for (long at = 1 << 16; at < view.count(); at += 1 << 16) {
      pattern.copyTo(view.slice(at, 1 << 16));
    }
  }

  private void meetEverything(int n) {
    for (DType type : DType.values()) {
      for (TestMemory place : TestMemory.values()) {
        for (int w = 1; w <= 9; w++) {
          View[] views = new View[w];
          for (int r = 0; r < w; r++) {
            views[r] = place.view(type, n, r);
          }
          View[] out = {place.view(type, n, w)};
          for (ReduceOp op : ReduceOp.values()) {
            for (FoldOrder any : FoldOrder.values()) {
              if (op != ReduceOp.MEAN || type.isFloating()) {
                candidate.fold(new ReduceContract(type, op, any, w), views, out);
              }
            }
          }
        }
      }
    }
  }

  /**
   * One copy, one fold.
   *
   * @param medians gets both
   */
  @Benchmark
  public void besideCopy(Medians medians) {
    double bytes = outs[0].byteCount();
    View from = ring[turn];
    turn = (turn + 1) % ring.length;
    long start = THREADS.getCurrentThreadCpuTime();
    from.copyTo(ring[turn]);
    long copied = THREADS.getCurrentThreadCpuTime();
    candidate.fold(contract, addends, outs);
    long folded = THREADS.getCurrentThreadCpuTime();
    medians.add(2 * bytes / (copied - start), (world + 1) * bytes / (folded - copied));
  }

  /**
   * Runs and prints a table.
   *
   * @param args JMH's options
   * @throws RunnerException when JMH cannot run
   * @throws CommandLineOptionException when it does not know an option
   */
  public static void main(String[] args) throws RunnerException, CommandLineOptionException {
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .parent(new CommandLineOptions(args))
                    .include(FoldBenchmark.class.getName())
                    .jvmArgsAppend(
                        "--add-modules=jdk.incubator.vector",
                        "-Xmx3g",
                        "-XX:MaxDirectMemorySize=2g")
                    .build())
            .run();
    System.out.println("| fold | dtype | memory | MiB | L | copy GB/s | fold GB/s | fold/copy |");
    System.out.println("|---|---|---|---|---|---|---|---|");
    for (RunResult result : results) {
      System.out.printf(
          Locale.ROOT,
          "| %s | %s | %s | %s | %s | %.1f | %.1f | %.2f |%n",
          result.getParams().getParam("fold"),
          result.getParams().getParam("dtype"),
          result.getParams().getParam("memory"),
          result.getParams().getParam("mib"),
          result.getParams().getParam("world"),
          score(result, "copyGBs"),
          score(result, "foldGBs"),
          score(result, "ratio"));
    }
  }

  private static double score(RunResult result, String counter) {
    return result.getSecondaryResults().get(counter).getScore();
  }
}
