// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.transport.nccl.StagedAllReduce.Fault;
import org.rankfold.transport.nccl.StagedAllReduce.Way;
import org.rankfold.view.DeviceView;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

/**
 * Holds NCCL's own all-reduce, which is unordered, beside exchange, fold and gathering, by turns,
 * and counts where their bits differ. All tasks share one device and talk over sockets, so the
 * times compare two ways on that footing and are no figure of NVLink. Prints tables in Markdown.
 */
public final class NcclSweep {
  private static final long[] BYTES = {
    4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20
  };
  private static final int PERIOD = (1 << 20) + 4;
  private static final int PREFIX = 1024;
  private static final long MEASURE_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int MAX_RUNS = 25;

  private final NcclRank rank;
  private final int tasks;
  private final int task;
  private final AbortLatch latch = new AbortLatch();
  private View firstPrefix;
  private double enqueuingUs;

  private NcclSweep(NcclRank rank, int tasks, int task) {
    this.rank = rank;
    this.tasks = tasks;
    this.task = task;
  }

  /** Runs the sweep for 3 and 4 tasks on the first device. */
  public static void main(String[] args) throws Exception {
    CudaProbe probe = CudaProbe.process().require();
    Path driver = Path.of("/sys/module/nvidia/version");
    System.out.println("- GPU: " + CudaDevice.of(0));
    System.out.println(
        "- driver: " + (Files.exists(driver) ? Files.readString(driver).strip() : "unknown"));
    System.out.println("- CUDA: " + probe.versions());
    System.out.println("- NCCL: " + NcclLibrary.process().require().describe());
    System.out.println("- JVM: " + System.getProperty("java.vm.name") + " " + Runtime.version());
    System.out.println("- OS: Linux " + System.getProperty("os.version"));
    System.out.println("- commit: " + System.getProperty("rankfold.commit", "unknown"));
    System.out.println("- date: " + java.time.LocalDate.now(java.time.ZoneOffset.UTC));
    cost();
    for (int tasks : new int[] {3, 4}) {
      Path folder = Files.createTempDirectory("rankfold-nccl-sweep-");
      try (RankProcesses ranks = new RankProcesses(folder)) {
        ranks.start(tasks, "sweep", 0);
        for (int task = 0; task < tasks; task++) {
          ranks.awaitEnd(task, 120);
        }
        ranks.lines(0).stream().filter(line -> !line.equals("END")).forEach(System.out::println);
      }
    }
  }

  /** What enqueuing costs, which is not the device's time: so this figure is a real one. */
  private static void cost() throws Exception {
    try (RankProcesses ranks =
        new RankProcesses(Files.createTempDirectory("rankfold-nccl-cost-"))) {
      ranks.start(3, "cost", 200);
      for (int task = 0; task < 3; task++) {
        ranks.awaitEnd(task, 60);
      }
      ranks.lines(0).stream().filter(line -> !line.equals("END")).forEach(System.out::println);
    }
  }

  /** One task's part. */
  static void runTask(NcclRank rank, int tasks, int task, String scenario) throws Exception {
    NcclSweep sweep = new NcclSweep(rank, tasks, task);
    switch (scenario) {
      case "sweep" -> sweep.run();
      case "cost" -> new EnqueueCost(rank, tasks, task).run();
      default -> throw new IllegalArgumentException(scenario);
    }
  }

  private void run() throws Exception {
    try (NcclExchange exchange = rank.open("sweep", tasks, task, 60, latch)) {
      say("%n%d processes on one GPU, over sockets, time-sliced; f32, RANK_LEFT%n", tasks);
      say(
          "| bytes | %s us | busbw GB/s | exchange + fold + gather us | busbw GB/s | of it enqueuing us | staged / unordered"
              + " | elements that differ | of | first %d elements as at the first size |",
          NcclSum.LABEL, PREFIX);
      say("|---|---|---|---|---|---|---|---|---|---|");
      long largest = Long.getLong("rankfold.nccl.largest", Long.MAX_VALUE);
      for (long bytes : BYTES) {
        if (bytes <= largest) {
          size(exchange, DType.F32, bytes, true);
        }
      }
      say("%n| type, 1 MiB | %s: elements that differ from RANK_LEFT | of |", NcclSum.LABEL);
      say("|---|---|---|");
      for (DType dtype : DType.values()) {
        size(exchange, dtype, 1 << 20, false);
      }
    }
  }

  private void size(NcclExchange exchange, DType dtype, long bytes, boolean isTimed) {
    ReduceContract contract = new ReduceContract(dtype, ReduceOp.SUM, FoldOrder.RANK_LEFT, tasks);
    long count = bytes / dtype.bytes();
    NcclSum sum = NcclSum.over(exchange);
    try (StagedAllReduce ours =
            new StagedAllReduce(
                exchange, rank.fold, rank.stream, contract, count, Way.GATHER, Fault.NONE);
        DeviceMemory unordered = DeviceMemory.allocate(rank.device, bytes)) {
      fill(ours.addend());
      DeviceView theirs = unordered.view(dtype);
      ours.enqueue();
      sum.enqueue(ours.addend(), theirs, rank.stream);
      ours.await(in(60), latch);
      long differ = differ(ours.result(), theirs);
      if (!isTimed) {
        say("| %s | %,d | %,d |", dtype.label(), differ, count);
        return;
      }
      View prefix = NcclRank.host(dtype, PREFIX);
      theirs.slice(0, PREFIX).copyTo(prefix);
      if (firstPrefix == null) {
        firstPrefix = prefix;
      }
      long startNs = System.nanoTime();
      call(() -> sum.enqueue(ours.addend(), theirs, rank.stream), ours);
      call(ours::enqueue, ours);
      int runs = agreedRuns(exchange, System.nanoTime() - startNs);
      double[] us = {Double.MAX_VALUE, Double.MAX_VALUE};
      double[] total = new double[2];
      enqueuingUs = 0;
      for (int i = 0; i < runs; i++) {
        total[0] += call(() -> sum.enqueue(ours.addend(), theirs, rank.stream), ours);
        total[1] += call(() -> timed(ours::enqueue), ours);
      }
      us[0] = total[0] / runs;
      us[1] = total[1] / runs;
      double busBytes = 2.0 * (tasks - 1) / tasks * bytes;
      say(
          "| %,d | %.0f | %.3f | %.0f | %.3f | %.0f | %.2f | %,d | %,d | %s |",
          bytes,
          us[0],
          busBytes / us[0] / 1e3,
          us[1],
          busBytes / us[1] / 1e3,
          enqueuingUs / runs,
          us[1] / us[0],
          differ,
          count,
          same(firstPrefix, prefix) == PREFIX
              ? "same"
              : (PREFIX - same(firstPrefix, prefix)) + " differ");
    }
  }

  private void timed(Runnable enqueue) {
    long startNs = System.nanoTime();
    enqueue.run();
    enqueuingUs += (System.nanoTime() - startNs) / 1e3;
  }

  /** Microseconds from the call to its end. */
  private double call(Runnable enqueue, StagedAllReduce awaits) {
    long startNs = System.nanoTime();
    enqueue.run();
    awaits.await(in(60), latch);
    return (System.nanoTime() - startNs) / 1e3;
  }

  /** How many runs fit, as task 0 sees it: all tasks must make the same calls. */
  private int agreedRuns(NcclExchange exchange, long bothNs) {
    int fit = (int) Math.max(2, Math.min(MAX_RUNS, 2 * MEASURE_NS / Math.max(1, bothNs)));
    try (DeviceMemory memory = DeviceMemory.allocate(rank.device, 4L * tasks)) {
      DeviceView all = memory.view(DType.I32);
      View.of(new int[] {fit}).copyTo(all.slice(task, 1));
      exchange.allGather(all.slice(task, 1), all, rank.stream);
      rank.stream.await(in(30), latch);
      int[] fits = new int[tasks];
      all.copyTo(View.of(fits));
      return fits[0];
    }
  }

  private void fill(DeviceView addend) {
    DType dtype = addend.dtype();
    long n = Math.min(PERIOD, addend.count());
    View host = NcclRank.host(dtype, n);
    InputKind kind =
        switch (dtype) {
          case F32, F64 -> InputKind.SPREAD;
          // Spread exponents leave the range of halves.
          case F16, BF16 -> InputKind.CANCEL;
          case I32, I64 -> InputKind.BITS;
        };
    OracleInputs.fill(host, kind, 7, task, 0);
    host.copyTo(addend.slice(0, n));
    for (long have = n; have < addend.count(); have *= 2) {
      long more = Math.min(have, addend.count() - have);
      rank.stream.copy(addend.slice(0, more), addend.slice(have, more));
    }
    rank.stream.await(in(30), latch);
  }

  private long differ(DeviceView ours, DeviceView theirs) {
    if (task != 0) {
      return 0;
    }
    View left = NcclRank.host(ours.dtype(), Math.min(PERIOD, ours.count()));
    View right = NcclRank.host(ours.dtype(), left.count());
    long differ = 0;
    for (long done = 0; done < ours.count(); done += left.count()) {
      long n = Math.min(left.count(), ours.count() - done);
      ours.slice(done, n).copyTo(left.slice(0, n));
      theirs.slice(done, n).copyTo(right.slice(0, n));
      differ += n - same(left.slice(0, n), right.slice(0, n));
    }
    return differ;
  }

  private static long same(View left, View right) {
    long same = 0;
    for (long i = 0; i < left.count(); i++) {
      same += RawBits.read(left, i) == RawBits.read(right, i) ? 1 : 0;
    }
    return same;
  }

  private void say(String format, Object... values) {
    if (task == 0) {
      System.out.printf(Locale.ROOT, format + "%n", values);
    }
  }

  private static Deadline in(long seconds) {
    return Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(seconds));
  }
}
