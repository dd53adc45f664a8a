// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.gpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaGraph;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.fold.Folds;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.peer.cuda.PeerCall;
import org.rankfold.peer.cuda.PeerKernels;
import org.rankfold.peer.cuda.PeerMemory;
import org.rankfold.peer.cuda.PeerOperands;
import org.rankfold.peer.cuda.PeerPath;
import org.rankfold.peer.cuda.PeerRank;
import org.rankfold.peer.cuda.PeerSeat;
import org.rankfold.peer.cuda.PeerTimeouts;
import org.rankfold.transport.nccl.NcclExchange;
import org.rankfold.transport.nccl.NcclLibrary;
import org.rankfold.transport.nccl.NcclSum;
import org.rankfold.transport.nccl.NcclTimeouts;
import org.rankfold.view.DeviceView;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

/**
 * Times all-reduces between the GPUs of this machine, a thread a GPU: {@code ncclAllReduce}, mapped
 * and one-shot by turns in streams of calls and, ours only, in CUDA graphs; then whole calls of
 * communicators, by peers and staged by NCCL. Checks bits up to 64 MiB. Prints tables in Markdown.
 *
 * <p>With one GPU one rank meets itself: that shows that the program runs, and is no measurement.
 */
public final class MultiGpuSweep {
  private static final int BATCHES = 40;
  private static final long BATCH_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MOST_ONE_SHOT = 16L << 20;
  private static final long MOST_CHECKED = 64L << 20;
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

  private enum Way {
    NCCL,
    MAPPED,
    ONE_SHOT,
    MAPPED_GRAPH,
    ONE_SHOT_GRAPH;

    boolean isOneShot() {
      return this == ONE_SHOT || this == ONE_SHOT_GRAPH;
    }

    boolean isGraph() {
      return this == MAPPED_GRAPH || this == ONE_SHOT_GRAPH;
    }
  }

  private final int ranks;
  private final DType dtype;
  private final long most;
  private final CyclicBarrier barrier;
  private final byte[] id;
  private final List<PeerSeat> seats = new ArrayList<>();
  private final List<PeerMemory> memories = new ArrayList<>();
  private final long[] addresses = new long[8];
  private final double[][] times = new double[8][];
  private final long[] different = new long[8];
  private final long[] wrong = new long[8];

  private MultiGpuSweep(int ranks, DType dtype, long most) {
    this.ranks = ranks;
    this.dtype = dtype;
    this.most = most;
    this.barrier = new CyclicBarrier(ranks);
    this.id = NcclExchange.uniqueId();
    for (int rank = 0; rank < ranks; rank++) {
      CudaDevice device = CudaDevice.of(rank);
      for (int peer = 0; peer < ranks; peer++) {
        if (!device.enableAccessTo(CudaDevice.of(peer))
            || !device.hasAtomicsOn(CudaDevice.of(peer))) {
          throw new IllegalStateException(
              "no access with atomics from GPU " + rank + " to GPU " + peer);
        }
      }
      memories.add(PeerMemory.allocate(device, (MOST_ONE_SHOT + 256) * ranks));
      seats.add(memories.get(rank).seat());
    }
  }

  /** Runs for 2, 4 and 8 GPUs, as far as they are there. */
  public static void main(String[] args) throws Exception {
    if (!"0".equals(System.getenv("NCCL_NVLS_ENABLE"))) {
      throw new IllegalStateException("NCCL_NVLS_ENABLE=0 is wanted: multicast stays off");
    }
    long most = args.length == 0 ? 1L << 30 : Long.parseLong(args[0]);
    CudaProbe probe = CudaProbe.process().require();
    int devices = probe.devices().size();
    header(probe, devices);
    if (devices == 1) {
      System.out.println(
          "NOT RUN, one GPU: every figure between GPUs. One rank that meets itself follows, to show"
              + " that the program runs; it measures nothing.");
    }
    for (int ranks : devices == 1 ? new int[] {1} : new int[] {2, 4, 8}) {
      if (ranks > devices) {
        System.out.printf("%nNOT RUN, devices=%d: ranks=%d%n", devices, ranks);
        continue;
      }
      for (DType dtype : new DType[] {DType.F32, DType.BF16}) {
        new MultiGpuSweep(ranks, dtype, most).run();
      }
      communicators(ranks, most);
    }
  }

  private static void header(CudaProbe probe, int devices) throws IOException {
    Path driver = Path.of("/sys/module/nvidia/version");
    for (int d = 0; d < devices; d++) {
      System.out.println("- GPU: " + CudaDevice.of(d));
    }
    System.out.println(
        "- driver: " + (Files.exists(driver) ? Files.readString(driver).strip() : "unknown"));
    System.out.println("- CUDA: " + probe.versions());
    System.out.println("- NCCL: " + NcclLibrary.process().require().describe());
    System.out.println("- JVM: " + System.getProperty("java.vm.name") + " " + Runtime.version());
    System.out.println("- OS: Linux " + System.getProperty("os.version"));
    System.out.println("- commit: " + System.getProperty("rankfold.commit", "unknown"));
    System.out.println("- date: " + java.time.LocalDate.now(java.time.ZoneOffset.UTC));
  }

  private void run() throws Exception {
    System.out.printf(
        "%n%d GPUs, %s, SUM, RANK_LEFT, in place; us a call, median (99th percentile) of %d batches,"
            + " the slowest GPU's%n%n",
        ranks, dtype.label(), BATCHES);
    System.out.println(
        "| bytes | ncclAllReduce | mapped | / nccl | one-shot | / nccl | mapped, graph | one-shot,"
            + " graph | enqueue mapped | enqueue one-shot | NCCL: elements that differ | wrong |");
    System.out.println("|---|---|---|---|---|---|---|---|---|---|---|---|");
    onEachGpu(this::sweep);
    memories.forEach(PeerMemory::close);
  }

  /** What a GPU's thread does. */
  @FunctionalInterface
  private interface Work {
    void run(int rank) throws Exception;
  }

  private void onEachGpu(Work work) throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Exception> failures = new ArrayList<>();
    for (int r = 0; r < ranks; r++) {
      int rank = r;
      Thread thread =
          new Thread(
              () -> {
                try {
                  work.run(rank);
                } catch (Exception e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                  barrier.reset();
                }
              },
              "gpu-" + rank);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw failures.get(0);
    }
  }

  private void meet() throws InterruptedException, BrokenBarrierException, TimeoutException {
    barrier.await(60, TimeUnit.SECONDS);
  }

  private void sweep(int rank) throws Exception {
    CudaDevice device = CudaDevice.of(rank);
    ReduceContract contract = new ReduceContract(dtype, ReduceOp.SUM, FoldOrder.RANK_LEFT, ranks);
    PeerKernels kernels = PeerKernels.ofProcess(device);
    kernels.prepare(contract);
    meet();
    try (CudaStream stream = CudaStream.create(device);
        DeviceMemory memory = DeviceMemory.allocate(device, most);
        NcclExchange exchange =
            NcclExchange.open(
                device,
                ranks,
                rank,
                id,
                new NcclTimeouts(TIMEOUT_NS, TIMEOUT_NS),
                Deadline.after(System.nanoTime(), TIMEOUT_NS),
                new AbortLatch())) {
      PeerRank peers =
          PeerRank.of(
              kernels,
              stream,
              memories.get(rank),
              seats,
              rank,
              new PeerTimeouts(TimeUnit.SECONDS.toNanos(10), TimeUnit.SECONDS.toNanos(10)));
      NcclSum sum = NcclSum.over(exchange);
      addresses[rank] = memory.view(dtype).address();
      meet();
      for (long bytes = 4096; bytes <= most; bytes *= 4) {
        row(new Seat(rank, stream, memory, peers, sum, contract), bytes);
      }
      meet();
    }
  }

  private record Seat(
      int rank,
      CudaStream stream,
      DeviceMemory memory,
      PeerRank peers,
      NcclSum sum,
      ReduceContract contract) {}

  private void row(Seat seat, long bytes) throws Exception {
    long count = bytes / dtype.bytes();
    Map<Way, double[]> found = new EnumMap<>(Way.class);
    Map<Way, Double> enqueueUs = new EnumMap<>(Way.class);
    check(seat, count, bytes);
    Map<Way, CudaGraph> graphs = new EnumMap<>(Way.class);
    for (Way way : Way.values()) {
      if (way.isOneShot() && bytes > MOST_ONE_SHOT) {
        continue;
      }
      int calls = callsOf(bytes);
      if (way.isGraph()) {
        graphs.put(way, CudaGraph.record(seat.stream(), () -> enqueue(seat, way, count, calls)));
      }
      found.put(way, new double[BATCHES]);
    }
    int calls = callsOf(bytes);
    for (int batch = -3; batch < BATCHES; batch++) {
      for (Way way : found.keySet()) {
        double[] us = batch(seat, way, count, calls, graphs.get(way));
        if (batch >= 0) {
          found.get(way)[batch] = us[0];
          enqueueUs.merge(way, us[1], Math::min);
        }
      }
    }
    graphs.values().forEach(CudaGraph::close);
    meet();
    for (Way way : found.keySet()) {
      times[seat.rank()] = found.get(way);
      meet();
      if (seat.rank() == 0) {
        for (int batch = 0; batch < BATCHES; batch++) {
          for (int rank = 1; rank < ranks; rank++) {
            found.get(way)[batch] = Math.max(found.get(way)[batch], times[rank][batch]);
          }
        }
        Arrays.sort(found.get(way));
      }
      meet();
    }
    if (seat.rank() == 0) {
      print(bytes, found, enqueueUs);
    }
    meet();
  }

  private static int callsOf(long bytes) {
    // At a tenth of a link's pace, so that a batch is some tens of milliseconds at most.
    double us = 10 + bytes / 1e5;
    return (int) Math.max(2, Math.min(50, BATCH_NS / 1e3 / us));
  }

  private void enqueue(Seat seat, Way way, long count, int calls) {
    DeviceView view = seat.memory().view(dtype, 0, count);
    if (way == Way.NCCL) {
      for (int i = 0; i < calls; i++) {
        seat.sum().enqueue(view, view, seat.stream());
      }
      return;
    }
    PeerCall call = PeerCall.allReduce(seat.contract(), count);
    PeerPath path = way.isOneShot() ? PeerPath.ONE_SHOT : PeerPath.MAPPED;
    long[] where = Arrays.copyOf(addresses, ranks);
    PeerOperands operands = new PeerOperands(where, where.clone());
    for (int i = 0; i < calls; i++) {
      seat.peers().enqueue(call, path, operands);
    }
  }

  /** Device time and host time of a call, us. */
  private double[] batch(Seat seat, Way way, long count, int calls, CudaGraph graph)
      throws Exception {
    CudaDevice device = seat.stream().device();
    try (CudaEvent start = CudaEvent.createTimed(device);
        CudaEvent end = CudaEvent.createTimed(device)) {
      meet();
      start.record(seat.stream());
      long fromNs = System.nanoTime();
      if (graph != null) {
        graph.launch(seat.stream());
      } else {
        enqueue(seat, way, count, calls);
      }
      double hostUs = (System.nanoTime() - fromNs) / 1e3 / calls;
      end.record(seat.stream());
      seat.stream().await(Deadline.after(System.nanoTime(), TIMEOUT_NS), null);
      seat.peers().check();
      return new double[] {end.millisSince(start) * 1e3 / calls, hostUs};
    }
  }

  /** One call of each way on fresh inputs: ours against the host's fold, NCCL's counted. */
  private void check(Seat seat, long count, long bytes) throws Exception {
    wrong[seat.rank()] = bytes > MOST_CHECKED ? -1 : 0;
    different[seat.rank()] = wrong[seat.rank()];
    if (bytes > MOST_CHECKED) {
      seat.memory().fill((byte) 0, seat.stream());
      seat.stream().await(Deadline.after(System.nanoTime(), TIMEOUT_NS), null);
      meet();
      return;
    }
    View[] addends = new View[ranks];
    for (int rank = 0; rank < ranks; rank++) {
      addends[rank] = host(count);
      OracleInputs.fill(addends[rank], InputKind.SPREAD, bytes, rank, 0);
    }
    View own = host(count);
    addends[seat.rank()].copyTo(own);
    Folds.fastest().fold(seat.contract(), addends, new View[] {addends[0]});
    String expected = BitDigest.of(addends[0]);
    DeviceView view = seat.memory().view(dtype, 0, count);
    for (Way way : List.of(Way.NCCL, Way.MAPPED, Way.ONE_SHOT)) {
      if (way.isOneShot() && bytes > MOST_ONE_SHOT) {
        continue;
      }
      own.copyTo(view);
      meet();
      enqueue(seat, way, count, 1);
      seat.stream().await(Deadline.after(System.nanoTime(), TIMEOUT_NS), null);
      seat.peers().check();
      meet();
      if (way == Way.NCCL) {
        View result = host(count);
        view.copyTo(result);
        different[seat.rank()] = differences(result, addends[0]);
      } else if (!BitDigest.of(view).equals(expected)) {
        wrong[seat.rank()]++;
      }
      meet();
    }
    // What is timed adds zeros: no sum grows beyond the type's range.
    seat.memory().fill((byte) 0, seat.stream());
    seat.stream().await(Deadline.after(System.nanoTime(), TIMEOUT_NS), null);
    meet();
  }

  private View host(long count) {
    int n = Math.toIntExact(count);
    return dtype == DType.F32 ? View.of(new float[n]) : View.of(new short[n], dtype);
  }

  private static long differences(View one, View other) {
    long found = 0;
    for (long i = 0; i < one.count(); i++) {
      found += RawBits.read(one, i) == RawBits.read(other, i) ? 0 : 1;
    }
    return found;
  }

  private void print(long bytes, Map<Way, double[]> found, Map<Way, Double> enqueueUs) {
    double nccl = median(found.get(Way.NCCL));
    long allWrong = Arrays.stream(wrong, 0, ranks).sum();
    System.out.printf(
        Locale.ROOT,
        "| %d | %s | %s | %.2f | %s | %s | %s | %s | %.1f | %s | %s | %s |%n",
        bytes,
        text(found.get(Way.NCCL)),
        text(found.get(Way.MAPPED)),
        median(found.get(Way.MAPPED)) / nccl,
        text(found.get(Way.ONE_SHOT)),
        found.containsKey(Way.ONE_SHOT)
            ? String.format(Locale.ROOT, "%.2f", median(found.get(Way.ONE_SHOT)) / nccl)
            : "",
        text(found.get(Way.MAPPED_GRAPH)),
        text(found.get(Way.ONE_SHOT_GRAPH)),
        enqueueUs.get(Way.MAPPED),
        found.containsKey(Way.ONE_SHOT)
            ? String.format(Locale.ROOT, "%.1f", enqueueUs.get(Way.ONE_SHOT))
            : "",
        different[0] < 0 ? "not looked at" : Long.toString(different[0]),
        allWrong < 0 ? "not looked at" : Long.toString(allWrong));
  }

  private static double median(double[] sorted) {
    return sorted[sorted.length / 2];
  }

  private static String text(double[] sortedOrNull) {
    return sortedOrNull == null
        ? ""
        : String.format(
            Locale.ROOT,
            "%.1f (%.1f)",
            median(sortedOrNull),
            sortedOrNull[sortedOrNull.length * 99 / 100]);
  }

  /** Whole calls, from the caller's thread: headers agreed on, moved, folded, waited for. */
  private static void communicators(int ranks, long most) {
    System.out.printf(
        "%n%d GPUs, f32, whole calls of a communicator (one JVM), us, median (99th percentile)%n%n",
        ranks);
    System.out.println("| bytes | by peers | events | staged by NCCL |");
    System.out.println("|---|---|---|---|");
    List<String> rows = new ArrayList<>();
    for (MultiGpuGolden.Way way :
        List.of(MultiGpuGolden.Way.MAPPED, MultiGpuGolden.Way.EVENTS, MultiGpuGolden.Way.NCCL)) {
      List<List<String>> found =
          LoopbackGroup.of(ranks, ranks)
              .device(0)
              .timeouts(Duration.ofSeconds(60), Duration.ofSeconds(20))
              .run(communicator -> calls(communicator, way, most));
      for (int i = 0; i < found.get(0).size(); i++) {
        if (rows.size() <= i) {
          rows.add("| " + (4096L << (2 * i)));
        }
        rows.set(i, rows.get(i) + " | " + found.get(0).get(i));
      }
    }
    rows.forEach(row -> System.out.println(row + " |"));
  }

  private static List<String> calls(Communicator communicator, MultiGpuGolden.Way way, long most) {
    String refused = way.attach(communicator, communicator.info().task());
    List<String> found = new ArrayList<>();
    try (DeviceBuffer buffer = communicator.allocateOnDevice(DType.F32, most / 4)) {
      View.of(new float[1]).copyTo(buffer.view().slice(0, 1));
      for (long bytes = 4096; bytes <= most; bytes *= 4) {
        if (refused != null) {
          found.add(refused);
          continue;
        }
        View view = buffer.view().slice(0, bytes / 4);
        double[] us = new double[bytes > 64L << 20 ? 20 : 200];
        for (int i = -10; i < us.length; i++) {
          long startNs = System.nanoTime();
          communicator.allReduce(List.of(view), view);
          if (i >= 0) {
            us[i] = (System.nanoTime() - startNs) / 1e3;
          }
        }
        Arrays.sort(us);
        found.add(text(us));
      }
      communicator.barrier();
    }
    return found;
  }
}
