// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.config.PortRange;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineSettings;
import org.rankfold.engine.PartialsRule;
import org.rankfold.fold.Fold;
import org.rankfold.group.LoopbackGroup.RankBody;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.tcp.MeshJoin;
import org.rankfold.transport.tcp.TcpListener;
import org.rankfold.transport.tcp.TcpOptions;
import org.rankfold.wire.GroupSecret;

/** Groups over real sockets whose tasks are threads, each with a listener of its own. */
final class TcpThreadGroups extends Groups {
  private static final AtomicInteger GROUPS = new AtomicInteger();

  private final PartialsRule partials;

  TcpThreadGroups(PartialsRule partials) {
    this.partials = partials;
  }

  @Override
  boolean comparesTasksMemory() {
    return false;
  }

  @Override
  <R> List<R> run(int world, int tasks, Duration timeout, Fold fold, RankBody<R> body) {
    RankTable table = new RankTable(world, tasks);
    GroupSecret secret =
        new GroupSecret(
            "conformance-" + GROUPS.incrementAndGet(),
            "a secret for tests only".getBytes(StandardCharsets.UTF_8));
    TcpOptions options =
        new TcpOptions(CHUNK_BYTES, Duration.ofSeconds(30).toNanos(), PATIENT.toNanos(), false);
    EngineSettings settings =
        new EngineSettings(
            CHUNK_BYTES, timeout.toNanos(), Duration.ofSeconds(20).toNanos(), partials);
    List<TcpListener> listeners = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(tasks);
    try {
      for (int task = 0; task < tasks; task++) {
        listeners.add(TcpListener.open(InetAddress.getLoopbackAddress(), new PortRange(0, 0)));
      }
      List<InetSocketAddress> addresses = listeners.stream().map(TcpListener::address).toList();
      AtomicReference<Throwable> first = new AtomicReference<>();
      List<Callable<R>> bodies = new ArrayList<>();
      for (int t = 0; t < tasks; t++) {
        int task = t;
        MeshJoin join = new MeshJoin(listeners.get(task), secret, table, task, addresses, options);
        bodies.add(
            () -> {
              try (Communicator communicator =
                  Communicators.over(
                      new Engine(
                          table,
                          task,
                          join.open(),
                          fold,
                          settings,
                          CollectiveMetrics.NONE,
                          new ProcessPoison()),
                      table,
                      task)) {
                try {
                  return body.run(communicator);
                } catch (Throwable e) {
                  first.compareAndSet(null, e);
                  communicator.abort(e);
                  throw e;
                }
              }
            });
      }
      return results(threads.invokeAll(bodies), first);
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    } finally {
      threads.shutdownNow();
      listeners.forEach(TcpListener::close);
    }
  }

  /** What the tasks returned, or the first failure with the others suppressed. */
  static <R> List<R> results(List<Future<R>> futures, AtomicReference<Throwable> first)
      throws InterruptedException {
    List<R> results = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (Future<R> future : futures) {
      try {
        results.add(future.get());
      } catch (ExecutionException e) {
        failures.add(e.getCause());
      }
    }
    if (failures.isEmpty()) {
      return results;
    }
    Throwable cause = first.get() == null ? failures.get(0) : first.get();
    failures.stream().filter(failure -> failure != cause).forEach(cause::addSuppressed);
    if (cause instanceof Error error) {
      throw error;
    }
    if (cause instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    throw new AssertionError(cause);
  }
}
