// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaKernel;
import org.rankfold.cuda.CudaModule;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.cuda.Nvrtc;
import org.rankfold.deadline.Deadline;
import org.rankfold.digest.InputKind;
import org.rankfold.digest.OracleInputs;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * Measures the fold's bandwidth against a plain copy's: bytes read and written over the device's
 * own time, the median of some launches, copy and fold by turns. Prints a table in Markdown.
 *
 * <p>Arguments: {@code all} for every shape instead of the chosen one.
 */
public final class FoldCudaSweep {
  private static final long ADDEND_BYTES = 1L << 30;
  private static final int WARM_UPS = 3;
  private static final int RUNS = 25;
  private static final int PERIOD = (1 << 20) + 4;

  private static final List<FoldShape> SHAPES =
      List.of(
          FoldShape.DEFAULT,
          new FoldShape(256, 8, 0, 16),
          new FoldShape(256, 4, 0, 8),
          new FoldShape(256, 16, 0, 16),
          new FoldShape(128, 8, 0, 8),
          new FoldShape(512, 8, 0, 16),
          new FoldShape(512, 4, 0, 8),
          new FoldShape(1024, 4, 0, 8),
          new FoldShape(256, 8, 8, 16),
          new FoldShape(512, 8, 4, 16),
          new FoldShape(512, 8, 2, 16));

  private final CudaDevice device;
  private final CudaStream stream;
  private final DeviceMemory memory;
  private final Map<FoldShape, CudaKernel> copies = new LinkedHashMap<>();

  private FoldCudaSweep(CudaDevice device) {
    this.device = device;
    this.stream = CudaStream.create(device);
    // Addends and the largest result; the copy's source and target lie in the same bytes.
    this.memory = DeviceMemory.allocate(device, 2 * ADDEND_BYTES);
  }

  /** Runs the sweep on the first device. */
  public static void main(String[] args) throws Exception {
    CudaProbe probe = CudaProbe.process().require();
    CudaDevice device = CudaDevice.of(0);
    printHeader(probe, device);
    boolean all = args.length > 0 && args[0].equals("all");
    FoldCudaSweep sweep = new FoldCudaSweep(device);
    sweep.fillInputs();
    sweep.run(all ? SHAPES : List.of(FoldShape.DEFAULT));
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

  private void fillInputs() {
    DeviceView all = memory.view(DType.F32);
    View host = DeviceGolden.host(DType.F32, PERIOD);
    OracleInputs.fill(host, InputKind.UNIFORM, 1, 0, 0);
    host.copyTo(all.slice(0, PERIOD));
    for (long have = PERIOD; have < all.count(); have *= 2) {
      long n = Math.min(have, all.count() - have);
      stream.copy(all.slice(0, n), all.slice(have, n));
    }
    await();
  }

  private void run(List<FoldShape> shapes) throws IOException {
    System.out.println(
        "| fold | W | threads, flight, blocks a SM, fixed W | us | GB/s | copy us | copy GB/s | fold / copy |");
    System.out.println("|---|---|---|---|---|---|---|---|");
    for (FoldShape shape : shapes) {
      try (CudaFold fold = CudaFold.of(device, FoldSource.text(), shape)) {
        for (int world : new int[] {2, 4, 8, 16}) {
          row(fold, shape, DType.F32, FoldOrder.RANK_LEFT, world);
        }
        if (shapes.size() == 1) {
          for (int world : new int[] {1, 3, 12, 64, 128}) {
            row(fold, shape, DType.F32, FoldOrder.RANK_LEFT, world);
          }
          for (int world : new int[] {2, 8, 16, 64}) {
            row(fold, shape, DType.F32, FoldOrder.RANK_TREE, world);
          }
          for (DType dtype : List.of(DType.F64, DType.F16, DType.BF16)) {
            row(fold, shape, dtype, FoldOrder.RANK_LEFT, 8);
          }
        }
      }
    }
  }

  private void row(CudaFold fold, FoldShape shape, DType dtype, FoldOrder order, int world)
      throws IOException {
    ReduceContract contract = new ReduceContract(dtype, ReduceOp.SUM, order, world);
    long step = FoldLaunch.VECTOR_BYTES * 16L;
    long each = ADDEND_BYTES / world / step * step;
    long count = each / dtype.bytes();
    DeviceView[] addends = new DeviceView[world];
    for (int r = 0; r < world; r++) {
      addends[r] = memory.view(dtype, r * each, count);
    }
    DeviceView[] out = {memory.view(dtype, world * each, count)};
    long bytes = (world + 1) * each;
    Runnable folding = () -> fold.enqueue(contract, addends, out, stream);
    // The best of all ways to copy is what the fold is held against.
    double copyUs = Double.MAX_VALUE;
    double foldUs = Double.MAX_VALUE;
    for (FoldShape copyShape :
        List.of(
            new FoldShape(256, 8, 0, 1),
            new FoldShape(256, 4, 0, 1),
            new FoldShape(512, 4, 0, 1),
            new FoldShape(512, 4, 4, 1),
            new FoldShape(1024, 1, 0, 1))) {
      CudaKernel kernel = copyKernel(copyShape);
      double[] us = medians(folding, () -> copy(kernel, copyShape, bytes / 2));
      foldUs = Math.min(foldUs, us[0]);
      copyUs = Math.min(copyUs, us[1]);
    }
    System.out.printf(
        Locale.ROOT,
        "| %s %s | %d | %d, %d, %s, %d | %.1f | %.0f | %.1f | %.0f | %.3f |%n",
        dtype.label(),
        order.label(),
        world,
        shape.threads(),
        shape.flight(),
        shape.blocksPerMultiprocessor() == 0 ? "all" : shape.blocksPerMultiprocessor(),
        shape.maxFixedWorld(),
        foldUs,
        bytes / foldUs / 1e3,
        copyUs,
        bytes / copyUs / 1e3,
        copyUs / foldUs);
  }

  /** Median device times in microseconds of two kinds of work, done by turns. */
  private double[] medians(Runnable first, Runnable second) {
    double[][] millis = new double[2][RUNS];
    List<CudaEvent> events = new ArrayList<>();
    for (int i = 0; i < 2 * (WARM_UPS + RUNS) + 1; i++) {
      events.add(CudaEvent.createTimed(device));
    }
    events.get(0).record(stream);
    for (int i = 0; i < WARM_UPS + RUNS; i++) {
      first.run();
      events.get(2 * i + 1).record(stream);
      second.run();
      events.get(2 * i + 2).record(stream);
    }
    await();
    for (int i = 0; i < RUNS; i++) {
      int at = 2 * (WARM_UPS + i);
      millis[0][i] = events.get(at + 1).millisSince(events.get(at));
      millis[1][i] = events.get(at + 2).millisSince(events.get(at + 1));
    }
    events.forEach(CudaEvent::close);
    Arrays.sort(millis[0]);
    Arrays.sort(millis[1]);
    return new double[] {millis[0][RUNS / 2] * 1e3, millis[1][RUNS / 2] * 1e3};
  }

  private void copy(CudaKernel kernel, FoldShape shape, long bytes) {
    long vectors = bytes / FoldLaunch.VECTOR_BYTES;
    long tile = (long) shape.threads() * shape.flight();
    long from = memory.view(DType.I64).address();
    byte[] arguments =
        ByteBuffer.allocate(24)
            .order(ByteOrder.nativeOrder())
            .putLong(vectors)
            .putLong(from)
            .putLong(from + ADDEND_BYTES)
            .array();
    int blocks = shape.blocks((vectors + tile - 1) / tile, device.info().multiprocessors());
    kernel.launch(blocks, 1, shape.threads(), arguments, stream);
  }

  private CudaKernel copyKernel(FoldShape shape) throws IOException {
    CudaKernel known = copies.get(shape);
    if (known != null) {
      return known;
    }
    try (InputStream source = FoldCudaSweep.class.getResourceAsStream("copy.cu")) {
      byte[] cubin =
          Nvrtc.cubin(
              new String(source.readAllBytes(), StandardCharsets.UTF_8),
              "copy.cu",
              List.of(
                  "--gpu-architecture=" + device.info().architecture(),
                  "-DCP_BLOCK=" + shape.threads(),
                  "-DCP_FLIGHT=" + shape.flight()));
      CudaKernel kernel = CudaModule.load(device, cubin).kernel("copy");
      copies.put(shape, kernel);
      return kernel;
    }
  }

  private void await() {
    stream.await(Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(30)), null);
  }
}
