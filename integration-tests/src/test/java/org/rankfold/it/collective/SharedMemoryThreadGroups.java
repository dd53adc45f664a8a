// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.contract.DType;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineSettings;
import org.rankfold.fold.Fold;
import org.rankfold.group.LoopbackGroup.RankBody;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.memory.Arena;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.sharedmemory.SharedMemoryOptions;
import org.rankfold.transport.sharedmemory.SharedSegment;

/** Groups over real segments whose tasks are threads, each with a board and mappings of its own. */
final class SharedMemoryThreadGroups extends Groups {
  private static final AtomicInteger GROUPS = new AtomicInteger();

  private final boolean arenas;

  /** Tasks bring arrays, or arenas in their place. */
  SharedMemoryThreadGroups(boolean arenas) {
    this.arenas = arenas;
  }

  @Override
  boolean comparesTasksMemory() {
    return false;
  }

  @Override
  Floats floats(Communicator communicator, int n) {
    if (!arenas) {
      return super.floats(communicator, n);
    }
    Arena arena = communicator.allocate(DType.F32, n);
    return new Floats(arena.view(), arena.floats());
  }

  @Override
  <R> List<R> run(int world, int tasks, Duration timeout, Fold fold, RankBody<R> body) {
    RankTable table = new RankTable(world, tasks);
    String epoch = "conformance-" + GROUPS.incrementAndGet();
    SharedMemoryOptions options =
        new SharedMemoryOptions(
            Path.of("/dev/shm"), CHUNK_BYTES, true, true, Duration.ofSeconds(30).toNanos());
    EngineSettings settings =
        new EngineSettings(CHUNK_BYTES, timeout.toNanos(), Duration.ofSeconds(20).toNanos());
    List<SharedSegment> segments = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      segments.add(SharedSegment.create(table, task, options));
    }
    List<String> rows = segments.stream().map(SharedSegment::row).toList();
    AtomicReference<Throwable> first = new AtomicReference<>();
    List<Callable<R>> bodies = new ArrayList<>();
    for (int t = 0; t < tasks; t++) {
      int task = t;
      bodies.add(
          () -> {
            Engine engine =
                new Engine(
                    table,
                    task,
                    segments.get(task).join(epoch, rows, PATIENT.toNanos()),
                    fold,
                    settings,
                    CollectiveMetrics.NONE,
                    new ProcessPoison());
            try (Communicator communicator = Communicators.over(engine, table, task)) {
              try {
                return body.run(arenas ? new ArenaCommunicator(communicator) : communicator);
              } catch (Throwable e) {
                first.compareAndSet(null, e);
                communicator.abort(e);
                throw e;
              }
            }
          });
    }
    ExecutorService threads = Executors.newFixedThreadPool(tasks);
    try {
      return TcpThreadGroups.results(threads.invokeAll(bodies), first);
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    } finally {
      threads.shutdownNow();
    }
  }
}
