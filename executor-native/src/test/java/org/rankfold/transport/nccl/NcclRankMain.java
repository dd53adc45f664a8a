// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.nccl.StagedAllReduce.Fault;
import org.rankfold.transport.nccl.StagedAllReduce.Way;

/**
 * One task as a process with a device. Arguments: folder, tasks, this task, scenario, how many; it
 * prints a line for everything a test may assert. A byte on its input trips the group's latch, as
 * the control of a job would.
 */
public final class NcclRankMain {
  /** Processes on one device take turns of milliseconds; a call that goes well takes some. */
  private static final long LONG_MS = 700;

  private final NcclRank rank;
  private final int tasks;
  private final int task;
  private final AbortLatch latch = new AbortLatch();
  private volatile long trippedNs;

  private NcclRankMain(NcclRank rank, int tasks, int task) {
    this.rank = rank;
    this.tasks = tasks;
    this.task = task;
  }

  /** Runs the task. */
  public static void main(String[] args) throws Exception {
    int tasks = Integer.parseInt(args[1]);
    int task = Integer.parseInt(args[2]);
    int many = Integer.parseInt(args[4]);
    try (NcclRank rank = new NcclRank(Path.of(args[0]))) {
      NcclRankMain main = new NcclRankMain(rank, tasks, task);
      main.listen();
      switch (args[3]) {
        case "golden" -> main.golden();
        case "swapped" -> main.swapped();
        case "dropped" -> main.dropped(true);
        case "early" -> main.dropped(false);
        case "fault" -> main.fault();
        case "lonely" -> main.lonely();
        case "many" -> main.many(many);
        default -> NcclSweep.runTask(rank, tasks, task, args[3]);
      }
    }
    System.out.println("END");
    // The latch's listener waits for input that does not come.
    System.exit(0);
  }

  private void listen() {
    Thread listener =
        new Thread(
            () -> {
              try {
                if (System.in.read() >= 0) {
                  trippedNs = System.nanoTime();
                  latch.trip(new CollectiveException(ErrorCode.PEER_FAILED, "said the control"));
                }
              } catch (IOException e) {
                System.out.println("no control: " + e);
              }
            },
            "control");
    listener.setDaemon(true);
    listener.start();
  }

  private void golden() throws Exception {
    try (NcclExchange exchange = rank.open("golden", tasks, task, 60, latch)) {
      for (Way way : Way.values()) {
        int[] rows = new int[2];
        for (GoldenRow row : rows()) {
          boolean ok = reaches(exchange, row, way, Fault.NONE);
          rows[ok ? 0 : 1]++;
          if (!ok) {
            System.out.println("WRONG " + way + " " + row.describe());
          }
        }
        System.out.println("ROWS " + way + " ok=" + rows[0] + " wrong=" + rows[1]);
      }
    }
    System.out.println("LEFT " + NcclRank.belongings());
  }

  private void swapped() throws Exception {
    int wrong = 0;
    try (NcclExchange exchange = rank.open("swapped", tasks, task, 60, latch)) {
      for (GoldenRow row : rows()) {
        Fault fault = task == 1 ? Fault.SWAPPED : Fault.NONE;
        wrong += reaches(exchange, row, Way.GATHER, fault) ? 0 : 1;
      }
    }
    System.out.println("ROWS of=" + rows().size() + " wrong=" + wrong);
  }

  /** Waits for a send that never comes, among connected tasks or at first; then the next group. */
  private void dropped(boolean isConnected) throws Exception {
    warmUp();
    GoldenRow row = plainRow();
    NcclExchange exchange = rank.open("dropped", tasks, task, 60, latch);
    if (isConnected) {
      System.out.println("FIRST " + reaches(exchange, row, Way.GATHER, Fault.NONE));
    }
    StagedAllReduce call = call(exchange, row, Way.GATHER, task == 1 ? Fault.DROPPED : Fault.NONE);
    NcclRank.fill(call, row, task);
    System.out.println("RUNNING");
    long startNs = System.nanoTime();
    try {
      sayingWhenItLasts(
          () -> {
            call.enqueue();
            call.await(in(3), latch);
          });
      System.out.println("DONE " + BitDigest.of(call.result()).equals(row.sha256()));
    } catch (CollectiveException e) {
      System.out.println(
          "LOST after_ms=" + millisSince(startNs) + " " + e.code() + " " + e.getMessage());
    }
    abortAndGoOn(exchange, call, "dropped-next", tasks);
  }

  /** What a process has once it has used NCCL at all. */
  private void warmUp() throws Exception {
    try (NcclExchange alone = rank.open("alone-" + task, 1, 0, 60, latch)) {
      alone.check();
    }
    System.out.println("BEFORE " + NcclRank.belongings());
  }

  /** Reduces until a peer is gone, then forms the next group without the last task. */
  private void fault() throws Exception {
    warmUp();
    GoldenRow row = plainRow();
    NcclExchange exchange = rank.open("fault", tasks, task, 60, latch);
    StagedAllReduce call = call(exchange, row, Way.SENDS, Fault.NONE);
    NcclRank.fill(call, row, task);
    try {
      for (int i = 0; ; i++) {
        sayingWhenItLasts(
            () -> {
              call.enqueue();
              call.await(in(30), latch);
            });
        if (i == 20) {
          System.out.println("RUNNING");
        }
      }
    } catch (CollectiveException e) {
      System.out.println(
          "LOST at_ms=" + System.currentTimeMillis() + " " + e.code() + " " + e.getMessage());
    }
    abortAndGoOn(exchange, call, "fault-next", tasks - 1);
    if (trippedNs != 0) {
      System.out.println("TRIPPED to_end_ms=" + millisSince(trippedNs));
    }
  }

  private void abortAndGoOn(NcclExchange exchange, StagedAllReduce call, String next, int nextTasks)
      throws Exception {
    long startNs = System.nanoTime();
    exchange.abort();
    rank.stream.await(in(5), null);
    String sinceTrip = trippedNs == 0 ? "" : " since_trip_ms=" + millisSince(trippedNs);
    System.out.println("ABORTED in_ms=" + millisSince(startNs) + sinceTrip);
    exchange.close();
    call.close();
    System.out.println("LEFT " + NcclRank.belongings());
    GoldenRow row =
        GoldenTable.builtIn().stream()
            .filter(r -> r.contract().world() == nextTasks && r.n() > 1000)
            .findFirst()
            .orElseThrow();
    try (NcclExchange again = rank.open(next, nextTasks, task, 60, new AbortLatch())) {
      System.out.println("NEXT " + reaches(again, row, Way.SENDS, Fault.NONE));
    }
    System.out.println("LEFT " + NcclRank.belongings());
  }

  /** Waits for tasks that never come, and makes ids that nobody uses. */
  private void lonely() throws Exception {
    warmUp();
    String had = NcclRank.belongings();
    String threads = had.substring(0, had.indexOf(' ') + 1);
    for (int i = 0; i < 3; i++) {
      byte[] id = NcclExchange.uniqueId();
      NcclExchange.forget(id);
    }
    System.out.println("FORGOT " + belongingsOnceThreads(threads));
    for (int i = 0; i < 3; i++) {
      long startNs = System.nanoTime();
      try {
        rank.open("lonely-" + i, 3, 0, 2, latch).close();
        System.out.println("OPEN");
      } catch (CollectiveException e) {
        System.out.println("LOST after_ms=" + millisSince(startNs) + " " + e.code());
      }
    }
    System.out.println("LEFT " + belongingsOnceThreads(threads));
  }

  /** Threads of the library take a moment to leave: what there is once so many are left. */
  private static String belongingsOnceThreads(String threads) throws Exception {
    Deadline deadline = in(10);
    while (!NcclRank.belongings().startsWith(threads) && !deadline.isExpired(System.nanoTime())) {
      Thread.sleep(5);
    }
    return NcclRank.belongings();
  }

  /** Makes a call and says WAITING when it takes longer than calls that go well. */
  private static void sayingWhenItLasts(Runnable call) {
    CountDownLatch ended = new CountDownLatch(1);
    Thread clock =
        new Thread(
            () -> {
              try {
                if (!ended.await(LONG_MS, TimeUnit.MILLISECONDS)) {
                  System.out.println("WAITING");
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "clock");
    clock.setDaemon(true);
    clock.start();
    try {
      call.run();
    } finally {
      ended.countDown();
    }
  }

  private void many(int exchanges) throws Exception {
    GoldenRow row = plainRow();
    int wrong = 0;
    try (NcclExchange exchange = rank.open("many", tasks, task, 60, latch);
        StagedAllReduce call = call(exchange, row, Way.GATHER, Fault.NONE)) {
      NcclRank.fill(call, row, task);
      long startNs = 0;
      for (int i = 0; i < exchanges + 100; i++) {
        if (i == 100) {
          System.out.println("FREE mib=" + (rank.device.freeBytes() >> 20) + " " + memory());
          startNs = System.nanoTime();
        }
        call.enqueue();
        call.await(in(20), latch);
        if (i % 100 == 0) {
          wrong += BitDigest.of(call.result()).equals(row.sha256()) ? 0 : 1;
        }
      }
      System.out.println("FREE mib=" + (rank.device.freeBytes() >> 20) + " " + memory());
      System.out.println(
          "MANY of=" + exchanges + " wrong=" + wrong + " took_ms=" + millisSince(startNs));
    }
  }

  private static String memory() throws IOException {
    String resident =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("VmRSS"))
            .findFirst()
            .orElseThrow();
    return "VmRSS_kb=" + resident.replaceAll("[^0-9]", "");
  }

  private boolean reaches(NcclExchange exchange, GoldenRow row, Way way, Fault fault) {
    try (StagedAllReduce call = call(exchange, row, way, fault)) {
      NcclRank.fill(call, row, task);
      call.enqueue();
      call.await(in(20), latch.isTripped() ? new AbortLatch() : latch);
      return BitDigest.of(call.result()).equals(row.sha256());
    }
  }

  private StagedAllReduce call(NcclExchange exchange, GoldenRow row, Way way, Fault fault) {
    return new StagedAllReduce(
        exchange, rank.fold, rank.stream, row.contract(), row.n(), way, fault);
  }

  private List<GoldenRow> rows() {
    return GoldenTable.builtIn().stream().filter(r -> r.contract().world() == tasks).toList();
  }

  private GoldenRow plainRow() {
    ReduceContract contract =
        new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, tasks);
    return rows().stream()
        .filter(row -> row.contract().equals(contract) && row.n() > 1000)
        .findFirst()
        .orElseThrow();
  }

  private static Deadline in(long seconds) {
    return Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(seconds));
  }

  private static long millisSince(long startNs) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
  }
}
