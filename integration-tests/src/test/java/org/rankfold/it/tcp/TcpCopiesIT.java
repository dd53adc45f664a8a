// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rankfold.config.ConfigSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineSettings;
import org.rankfold.fold.Folds;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.tcp.MeshJoin;
import org.rankfold.transport.tcp.TcpCounts;
import org.rankfold.transport.tcp.TcpListener;
import org.rankfold.transport.tcp.TcpOptions;
import org.rankfold.transport.tcp.TcpTransport;
import org.rankfold.view.View;

/** How many bytes travel and how many are copied on their way through the process. */
@Timeout(120)
class TcpCopiesIT {
  private static final int TASKS = 2;
  private static final int BYTES = 16 << 20;
  private static final int CHUNK_BYTES = 256 << 10;

  @Test
  void shouldCopyNothingOnTheWayOutOfDirectMemoryAndLandResultsInPlace() throws Exception {
    for (TcpCounts counts : allReduce(true)) {
      assertEquals(BYTES, counts.sentElementBytes());
      assertEquals(BYTES, counts.receivedElementBytes());
      assertEquals(0, counts.copiedOutBytes());
      assertThat(counts.landedBytes()).isGreaterThan(0).isLessThanOrEqualTo(BYTES / 2);
      assertInOnce(counts);
    }
  }

  @Test
  void shouldCopyHeapArraysOnceOnTheWayOut() throws Exception {
    for (TcpCounts counts : allReduce(false)) {
      assertEquals(BYTES, counts.sentElementBytes());
      assertEquals(BYTES, counts.copiedOutBytes());
      assertEquals(0, counts.landedBytes());
      assertInOnce(counts);
    }
  }

  /** Headers are few, and few elements come together with one. */
  private static void assertInOnce(TcpCounts counts) {
    assertThat(counts.sentBytes() - BYTES).isLessThan(BYTES / 100);
    assertThat(counts.receivedBytes() - BYTES).isLessThan(BYTES / 100);
    assertThat(counts.copiedInBytes()).isLessThan(BYTES / 10);
  }

  private static List<TcpCounts> allReduce(boolean direct) throws Exception {
    RankTable table = new RankTable(TASKS, TASKS);
    TcpOptions options =
        TcpOptions.of(
            ConfigSource.of(Map.of("spark.rankfold.chunk.bytes", Integer.toString(CHUNK_BYTES))),
            TASKS,
            false);
    ExecutorService threads = Executors.newFixedThreadPool(TASKS);
    try (TcpListener listener = TcpThreads.listener("127.0.0.1")) {
      List<InetSocketAddress> addresses = List.of(listener.address(), listener.address());
      List<Callable<TcpCounts>> tasks = new ArrayList<>();
      for (int t = 0; t < TASKS; t++) {
        int task = t;
        MeshJoin join =
            new MeshJoin(
                listener, TcpThreads.secret("copies-" + direct), table, task, addresses, options);
        tasks.add(() -> counted(join, table, task, direct));
      }
      List<TcpCounts> counts = new ArrayList<>();
      for (Future<TcpCounts> future : threads.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
        counts.add(future.get());
      }
      assertEquals(0, listener.bufferBytes());
      return counts;
    } finally {
      threads.shutdownNow();
    }
  }

  private static TcpCounts counted(MeshJoin join, RankTable table, int task, boolean direct) {
    TcpTransport transport = join.open();
    EngineSettings settings = new EngineSettings(CHUNK_BYTES, 60_000_000_000L, 5_000_000_000L);
    try (Engine engine =
        new Engine(
            table,
            task,
            transport,
            Folds.fastest(),
            settings,
            CollectiveMetrics.NONE,
            new ProcessPoison())) {
      View in = GoldenRanks.memory(DType.F32, BYTES / 4, direct);
      View out = GoldenRanks.memory(DType.F32, BYTES / 4, direct);
      engine.allReduce(ReduceOp.SUM, FoldOrder.RANK_LEFT, List.of(in), out);
      return transport.counts();
    }
  }
}
