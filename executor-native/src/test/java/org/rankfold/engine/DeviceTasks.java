// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import static org.assertj.core.api.Assertions.fail;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.OracleInputs;
import org.rankfold.group.GroupConfig;
import org.rankfold.group.LoopbackGroup.RankBody;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.loopback.DeliveryFault;
import org.rankfold.transport.loopback.DeliveryOrder;
import org.rankfold.transport.loopback.LoopbackHub;
import org.rankfold.transport.loopback.LoopbackOptions;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.view.View;

/** Tasks that are threads, share the first device and have an exchange of the test's choice. */
public final class DeviceTasks {
  /** Joins one task, at once with all others. */
  @FunctionalInterface
  public interface Exchanges {
    /** The task's exchange, the engine's from then on. */
    DeviceExchange join(int task, CudaDevice device, AbortLatch latch) throws Exception;
  }

  private static final long BOUND_S = 100;

  private DeviceTasks() {}

  /** The first device; without one the test ends as skipped, or failed where one is promised. */
  public static CudaDevice requireDevice() {
    CudaProbe probe = CudaProbe.process();
    if (!probe.isAvailable()) {
      if (Boolean.getBoolean("rankfold.gpu.required")) {
        fail("rankfold.gpu.required, but " + probe.reason());
      }
      System.out.println("SKIPPED: " + probe.reason());
      Assumptions.abort(probe.reason());
    }
    return CudaDevice.of(0);
  }

  /** Runs the body in every task; the first failure, in task order, is thrown. */
  public static <R> List<R> run(
      RankTable table, EngineSettings settings, Exchanges exchanges, RankBody<R> body)
      throws Exception {
    LoopbackHub hub =
        new LoopbackHub(
            table,
            new LoopbackOptions(
                PathRule.STAGED, DeliveryOrder.ARRIVAL, settings.chunkBytes(), DeliveryFault.NONE));
    ExecutorService threads = Executors.newFixedThreadPool(table.tasks());
    try {
      List<Future<R>> futures = new ArrayList<>();
      for (int t = 0; t < table.tasks(); t++) {
        int task = t;
        futures.add(threads.submit(() -> run(table, task, hub, settings, exchanges, body)));
      }
      List<R> results = new ArrayList<>();
      for (Future<R> future : futures) {
        results.add(future.get(BOUND_S, TimeUnit.SECONDS));
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }

  private static <R> R run(
      RankTable table,
      int task,
      LoopbackHub hub,
      EngineSettings settings,
      Exchanges exchanges,
      RankBody<R> body)
      throws Exception {
    CudaDevice device = CudaDevice.of(0);
    Engine engine =
        new Engine(
            table,
            task,
            hub.join(task),
            GroupConfig.of(key -> null).fold(),
            settings,
            CollectiveMetrics.NONE,
            new ProcessPoison());
    try (Communicator communicator = Communicators.over(engine, table, task)) {
      try {
        Communicators.use(communicator, device);
        Communicators.attach(communicator, exchanges.join(task, device, hub.latch()));
        return body.run(communicator);
      } catch (Exception | Error e) {
        communicator.abort(e);
        throw e;
      }
    }
  }

  /** Reduces a row from device memory, into memory of its own or into an addend's. */
  public static String digest(Communicator communicator, GoldenRow row, boolean inPlace) {
    try (Row memory = new Row(communicator, row, inPlace)) {
      memory.reduce();
      return memory.digest();
    }
  }

  /** A golden row's addends of one task, and where their fold goes. */
  public static final class Row implements AutoCloseable {
    private final Communicator communicator;
    private final GoldenRow row;
    private final List<DeviceBuffer> owned = new ArrayList<>();
    private final List<View> addends = new ArrayList<>();

    /** Makes the inputs of the task's ranks. */
    public Row(Communicator communicator, GoldenRow row, boolean inPlace) {
      this.communicator = communicator;
      this.row = row;
      DType dtype = row.contract().dtype();
      for (int r = 0; r < communicator.info().rankCount(); r++) {
        View host = View.of(ByteBuffer.allocateDirect((int) (row.n() * dtype.bytes())), dtype);
        OracleInputs.fill(host, row.kind(), row.seed(), communicator.info().firstRank() + r, 0);
        owned.add(communicator.allocateOnDevice(dtype, row.n()));
        host.copyTo(owned.get(r).view());
        addends.add(owned.get(r).view());
      }
      if (!inPlace) {
        owned.add(communicator.allocateOnDevice(dtype, row.n()));
      }
    }

    /** All-reduces. */
    public void reduce() {
      View out = owned.get(owned.size() - 1).view();
      communicator.allReduce(row.contract().op(), row.contract().order(), addends, out);
    }

    /** The result's. */
    public String digest() {
      return BitDigest.of(owned.get(owned.size() - 1).view());
    }

    @Override
    public void close() {
      owned.forEach(DeviceBuffer::close);
    }
  }
}
