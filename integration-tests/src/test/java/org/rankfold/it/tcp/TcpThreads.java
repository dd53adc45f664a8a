// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.config.PortRange;
import org.rankfold.group.GroupSpec;
import org.rankfold.group.TcpGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.tcp.TcpListener;
import org.rankfold.wire.GroupSecret;

/** A group over real sockets whose tasks are threads, each with a listener of its own. */
final class TcpThreads {
  /** What a task does. */
  interface Body<R> {
    R run(Communicator communicator) throws Exception;
  }

  private static final AtomicInteger GROUPS = new AtomicInteger();
  private static final long LIMIT_S = 120;

  private TcpThreads() {}

  static GroupSecret secret(String epoch) {
    return new GroupSecret(epoch, "a secret for tests only".getBytes(StandardCharsets.UTF_8));
  }

  static TcpListener listener(String host) {
    try {
      return TcpListener.open(InetAddress.getByName(host), new PortRange(0, 0));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(host, e);
    }
  }

  /** Results or exceptions by task; every task's own listener and threads are gone afterwards. */
  static <R> List<Object> outcomes(
      String host, int world, int tasks, Map<String, String> settings, Body<R> body)
      throws Exception {
    return outcomes(host, world, tasks, settings, false, body);
  }

  /** As the other, encrypted on demand. */
  static <R> List<Object> outcomes(
      String host,
      int world,
      int tasks,
      Map<String, String> settings,
      boolean encrypt,
      Body<R> body)
      throws Exception {
    List<TcpListener> listeners = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      listeners.add(listener(host));
    }
    List<InetSocketAddress> addresses = listeners.stream().map(TcpListener::address).toList();
    GroupSecret secret = secret("group-" + GROUPS.incrementAndGet());
    ExecutorService threads = Executors.newFixedThreadPool(tasks);
    try {
      List<Future<R>> futures = new ArrayList<>();
      for (int t = 0; t < tasks; t++) {
        int task = t;
        GroupSpec spec =
            new GroupSpec(secret, new RankTable(world, tasks), task, addresses, encrypt);
        futures.add(
            threads.submit(
                () -> {
                  try (Communicator communicator =
                      TcpGroups.open(
                          listeners.get(task),
                          spec,
                          ConfigSource.of(settings),
                          CollectiveMetrics.NONE)) {
                    try {
                      return body.run(communicator);
                    } catch (Throwable e) {
                      communicator.abort(e);
                      throw e;
                    }
                  }
                }));
      }
      List<Object> outcomes = new ArrayList<>();
      for (Future<R> future : futures) {
        outcomes.add(outcome(future));
      }
      for (TcpListener listener : listeners) {
        if (listener.bufferBytes() != 0) {
          throw new AssertionError("buffers not given back: " + listener.bufferBytes());
        }
      }
      threads.shutdown();
      if (!threads.awaitTermination(LIMIT_S, TimeUnit.SECONDS)) {
        throw new AssertionError("a task does not end");
      }
      return outcomes;
    } finally {
      threads.shutdownNow();
      listeners.forEach(TcpListener::close);
    }
  }

  private static Object outcome(Future<?> future) throws InterruptedException, TimeoutException {
    try {
      return future.get(LIMIT_S, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      return e.getCause();
    }
  }

  /** Results by task; the first exception is thrown. */
  static <R> List<R> results(
      String host, int world, int tasks, Map<String, String> settings, Body<R> body)
      throws Exception {
    return results(host, world, tasks, settings, false, body);
  }

  /** As the other, encrypted on demand. */
  @SuppressWarnings("unchecked")
  static <R> List<R> results(
      String host,
      int world,
      int tasks,
      Map<String, String> settings,
      boolean encrypt,
      Body<R> body)
      throws Exception {
    List<R> results = new ArrayList<>();
    for (Object outcome : outcomes(host, world, tasks, settings, encrypt, body)) {
      if (outcome instanceof Exception e) {
        throw e;
      }
      if (outcome instanceof Error e) {
        throw e;
      }
      results.add((R) outcome);
    }
    return results;
  }
}
