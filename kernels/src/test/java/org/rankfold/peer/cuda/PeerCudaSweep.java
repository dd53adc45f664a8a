// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaGraph;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.InputKind;
import org.rankfold.fold.cuda.Gpu;
import org.rankfold.peer.cuda.PeerCohortGpuTest.Case;

/**
 * Device time of a call of all ranks in one launch, on one device. There is no link here: what it
 * shows is the cost of the barriers and of the kernels, nothing that may be held against a
 * collective of several devices. Prints a table in Markdown; checks the bits of every row.
 */
public final class PeerCudaSweep {
  private static final int BATCHES = 15;
  private static final int CALLS = 20;

  private PeerCudaSweep() {}

  /** Runs the sweep on the first device. */
  public static void main(String[] args) throws IOException {
    CudaProbe probe = CudaProbe.process().require();
    CudaDevice device = CudaDevice.of(0);
    printHeader(probe, device);
    System.out.println(
        "| W | bytes | one-shot us | in a graph us | enqueue us | mapped us | in a graph us | enqueue us | #wrong |");
    System.out.println("|---|---|---|---|---|---|---|---|---|");
    try (PeerKernels kernels = PeerKernels.on(device)) {
      for (int ranks : new int[] {2, 4, 8}) {
        ReduceContract contract =
            new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, ranks);
        kernels.prepare(contract);
        if (ranks == 2) {
          warmUp(kernels, contract);
        }
        for (long bytes = 4096; bytes <= 64L << 20; bytes *= 4) {
          row(kernels, contract, bytes);
        }
      }
    }
  }

  private static void printHeader(CudaProbe probe, CudaDevice device) throws IOException {
    Path driver = Path.of("/sys/module/nvidia/version");
    System.out.println("- GPU: " + device);
    System.out.println(
        "- driver: " + (Files.exists(driver) ? Files.readString(driver).strip() : "unknown"));
    System.out.println("- CUDA: " + probe.versions());
    System.out.println("- JVM: " + System.getProperty("java.vm.name") + " " + Runtime.version());
    System.out.println("- OS: Linux " + System.getProperty("os.version"));
    System.out.println("- commit: " + System.getProperty("rankfold.commit", "unknown"));
    System.out.println("- date: " + java.time.LocalDate.now(java.time.ZoneOffset.UTC));
    System.out.println();
  }

  private static void row(PeerKernels kernels, ReduceContract contract, long bytes) {
    int ranks = contract.world();
    long count = bytes / contract.dtype().bytes();
    boolean isPushed = bytes <= 4L << 20;
    long setBytes = isPushed ? Ranks.setBytes(contract.dtype(), count, ranks) : 0;
    try (Ranks group = new Ranks(kernels, ranks, setBytes);
        Case memory = new Case(contract, count, ranks, Gpu.Placement.ALIGNED)) {
      memory.fill(InputKind.SPREAD, bytes);
      String expected = memory.expected();
      StringBuilder row = new StringBuilder("| " + ranks + " | " + bytes);
      int wrong = 0;
      for (PeerPath path : new PeerPath[] {PeerPath.ONE_SHOT, PeerPath.MAPPED}) {
        if (path == PeerPath.ONE_SHOT && !isPushed) {
          row.append(" | | | ");
          continue;
        }
        PeerCall call = PeerCall.allReduce(contract, count);
        PeerOperands operands = Ranks.operands(memory.addends, memory.outs);
        Runnable calls =
            () -> {
              for (int i = 0; i < CALLS; i++) {
                group.cohort.enqueue(call, path, operands);
              }
            };
        double streamUs = medianUs(group, calls);
        double enqueueUs = enqueueUs(group, calls);
        try (CudaGraph graph = CudaGraph.record(group.stream, calls)) {
          double graphUs = medianUs(group, () -> graph.launch(group.stream));
          row.append(
              String.format(Locale.ROOT, " | %.1f | %.1f | %.1f", streamUs, graphUs, enqueueUs));
        }
        group.cohort.check();
        for (int r = 0; r < ranks; r++) {
          wrong += BitDigest.of(memory.outs[r]).equals(expected) ? 0 : 1;
          group.stream.copy(memory.addends[0], memory.outs[r]);
        }
        group.await();
      }
      System.out.println(row + " | " + wrong + " |");
    }
  }

  /** The launching code is compiled by the JVM before anything is timed. */
  private static void warmUp(PeerKernels kernels, ReduceContract contract) {
    try (Ranks group = new Ranks(kernels, 2, 1 << 20);
        Case memory = new Case(contract, 1024, 2, Gpu.Placement.ALIGNED)) {
      PeerCall call = PeerCall.allReduce(contract, 1024);
      PeerOperands operands = Ranks.operands(memory.addends, memory.outs);
      for (int i = 0; i < 20_000; i++) {
        group.cohort.enqueue(call, i % 2 == 0 ? PeerPath.ONE_SHOT : PeerPath.MAPPED, operands);
        if (i % 100 == 0) {
          group.await();
        }
      }
      group.await();
      group.cohort.check();
    }
  }

  /** What the host spends on a call while the device has nothing to do before. */
  private static double enqueueUs(Ranks group, Runnable batch) {
    double[] us = new double[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
      long startNs = System.nanoTime();
      batch.run();
      us[i] = (System.nanoTime() - startNs) / 1e3 / CALLS;
      group.await();
    }
    Arrays.sort(us);
    return us[BATCHES / 2];
  }

  /** Of a call, as the device's own clock says over batches of calls. */
  private static double medianUs(Ranks group, Runnable batch) {
    CudaDevice device = group.stream.device();
    double[] us = new double[BATCHES];
    try (CudaEvent start = CudaEvent.createTimed(device);
        CudaEvent end = CudaEvent.createTimed(device)) {
      for (int i = -2; i < BATCHES; i++) {
        start.record(group.stream);
        batch.run();
        end.record(group.stream);
        group.await();
        if (i >= 0) {
          us[i] = end.millisSince(start) * 1e3 / CALLS;
        }
      }
    }
    Arrays.sort(us);
    return us[BATCHES / 2];
  }
}
