// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineSettings;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.Fold;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.cudapeer.CopyHub;
import org.rankfold.transport.cudapeer.CopyOptions;
import org.rankfold.transport.loopback.DeliveryFault;
import org.rankfold.transport.loopback.DeliveryOrder;
import org.rankfold.transport.loopback.LoopbackHub;
import org.rankfold.transport.loopback.LoopbackOptions;
import org.rankfold.transport.loopback.PathRule;

/**
 * A group whose tasks are threads of this JVM: for unit tests of rank code, with the engine, folds
 * and bits of a cluster. A group is a plan; every {@link #run(RankBody)} forms it anew.
 *
 * <pre>{@code
 * List<Float> sums = LoopbackGroup.run(3, communicator -> {
 *   float[] x = {communicator.info().task()};
 *   communicator.allReduce(List.of(View.of(x)), View.of(x));
 *   return x[0];
 * });
 * }</pre>
 */
public final class LoopbackGroup {
  /**
   * What every task does.
   *
   * @param <R> what it returns
   */
  @FunctionalInterface
  public interface RankBody<R> {
    /**
     * Runs on the task's thread.
     *
     * @param communicator the task's communicator, closed after the body
     * @return the task's result
     * @throws Exception anything: the group ends and the first cause is thrown by run
     */
    R run(Communicator communicator) throws Exception;
  }

  private static final int NO_DEVICE = -1;

  private final RankTable table;
  private final PathRule pathRule;
  private final DeliveryOrder deliveryOrder;
  private final DeliveryFault fault;
  private final EngineSettings settings;
  private final Fold fold;
  private final ProcessPoison poison;
  private final int device;
  private final CopyOptions copies;

  private LoopbackGroup(
      RankTable table,
      PathRule pathRule,
      DeliveryOrder deliveryOrder,
      DeliveryFault fault,
      EngineSettings settings,
      Fold fold,
      ProcessPoison poison,
      int device,
      CopyOptions copies) {
    this.table = table;
    this.pathRule = pathRule;
    this.deliveryOrder = deliveryOrder;
    this.fault = fault;
    this.settings = settings;
    this.fold = fold;
    this.poison = poison;
    this.device = device;
    this.copies = copies;
  }

  /**
   * A group with default settings, all pairs mapped.
   *
   * @param world logical ranks
   * @param tasks threads that host them
   * @return the plan
   * @throws CollectiveException INVALID_WORLD as {@link RankTable} says
   */
  public static LoopbackGroup of(int world, int tasks) {
    GroupConfig defaults = GroupConfig.of(key -> null);
    return new LoopbackGroup(
        new RankTable(world, tasks),
        PathRule.MAPPED,
        DeliveryOrder.ARRIVAL,
        DeliveryFault.NONE,
        defaults.engine(),
        defaults.fold(),
        ProcessPoison.PROCESS,
        NO_DEVICE,
        null);
  }

  /**
   * Chooses which pairs are mapped.
   *
   * @param rule the rule
   * @return a plan that differs in this only
   */
  public LoopbackGroup path(PathRule rule) {
    return new LoopbackGroup(
        table, rule, deliveryOrder, fault, settings, fold, poison, device, copies);
  }

  /**
   * Chooses the order in which staged addends arrive.
   *
   * @param order the order
   * @return a plan that differs in this only
   */
  public LoopbackGroup delivery(DeliveryOrder order) {
    return new LoopbackGroup(table, pathRule, order, fault, settings, fold, poison, device, copies);
  }

  /**
   * Makes deliveries of staged pairs go wrong, for negative tests.
   *
   * @param newFault what goes wrong
   * @return a plan that differs in this only
   */
  public LoopbackGroup fault(DeliveryFault newFault) {
    return new LoopbackGroup(
        table, pathRule, deliveryOrder, newFault, settings, fold, poison, device, copies);
  }

  /**
   * Chooses what adds.
   *
   * @param newFold the fold
   * @return a plan that differs in this only
   */
  public LoopbackGroup fold(Fold newFold) {
    return new LoopbackGroup(
        table, pathRule, deliveryOrder, fault, settings, newFold, poison, device, copies);
  }

  /**
   * Chooses what remembers a fatal error, instead of the process.
   *
   * @param newPoison the poison
   * @return a plan that differs in this only
   */
  public LoopbackGroup poison(ProcessPoison newPoison) {
    return new LoopbackGroup(
        table, pathRule, deliveryOrder, fault, settings, fold, newPoison, device, copies);
  }

  /**
   * Lets every task allocate on a device, all on the same one.
   *
   * @param ordinal the device's number in this process
   * @return a plan that differs in this only
   */
  public LoopbackGroup device(int ordinal) {
    return new LoopbackGroup(
        table, pathRule, deliveryOrder, fault, settings, fold, poison, ordinal, copies);
  }

  /**
   * Moves device memory by copies between the tasks, as between devices that do not reach each
   * other, instead of folding it where it lies. Needs {@link #device}.
   *
   * @param options in which order
   * @return a plan that differs in this only
   */
  public LoopbackGroup copies(CopyOptions options) {
    return new LoopbackGroup(
        table, pathRule, deliveryOrder, fault, settings, fold, poison, device, options);
  }

  /**
   * Chooses the stretch in which bytes move.
   *
   * @param bytes at least 1; an element is never split
   * @return a plan that differs in this only
   */
  public LoopbackGroup chunkBytes(int bytes) {
    return settings(
        new EngineSettings(bytes, settings.collectiveTimeoutNs(), settings.exitTimeoutNs()));
  }

  /**
   * Chooses how long waits may last.
   *
   * @param collective for a rank that does not arrive
   * @param exit for a peer to leave this task's memory after a failure
   * @return a plan that differs in this only
   */
  public LoopbackGroup timeouts(Duration collective, Duration exit) {
    return settings(
        new EngineSettings(settings.chunkBytes(), collective.toNanos(), exit.toNanos()));
  }

  private LoopbackGroup settings(EngineSettings newSettings) {
    return new LoopbackGroup(
        table, pathRule, deliveryOrder, fault, newSettings, fold, poison, device, copies);
  }

  /**
   * Forms a group of as many tasks as logical ranks, with default settings, and runs a body on
   * each.
   *
   * @param world logical ranks
   * @param body what every task does
   * @param <R> what it returns
   * @return the results in rank order
   */
  public static <R> List<R> run(int world, RankBody<R> body) {
    return of(world, world).run(body);
  }

  /**
   * Forms the group and runs a body on every task; blocks until all have ended. When a body throws,
   * the others end at their next call and the first cause is thrown, with the others' errors
   * suppressed; an interrupt of the calling thread is passed on to the tasks.
   *
   * @param body what every task does
   * @param <R> what it returns
   * @return the results in task order
   */
  public <R> List<R> run(RankBody<R> body) {
    poison.requireClean();
    LoopbackHub hub =
        new LoopbackHub(
            table, new LoopbackOptions(pathRule, deliveryOrder, settings.chunkBytes(), fault));
    CopyHub copyHub = copies == null ? null : new CopyHub(table.tasks(), copies);
    List<R> results = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    AtomicReference<Throwable> first = new AtomicReference<>();
    for (int task = 0; task < table.tasks(); task++) {
      results.add(null);
      failures.add(null);
    }
    for (int t = 0; t < table.tasks(); t++) {
      int task = t;
      Communicator communicator = communicator(hub, copyHub, task);
      Thread thread =
          new Thread(
              () -> {
                // Peers learn the cause before the close, which waits for calls under way.
                try (communicator) {
                  try {
                    results.set(task, body.run(communicator));
                  } catch (Throwable e) {
                    failures.set(task, e);
                    first.compareAndSet(null, e);
                    communicator.abort(e);
                  }
                }
              },
              "rankfold-task-" + task);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
    join(threads);
    if (first.get() != null) {
      throw firstCause(first.get(), failures);
    }
    return results;
  }

  private Communicator communicator(LoopbackHub hub, CopyHub copyHub, int task) {
    Engine engine =
        new Engine(table, task, hub.join(task), fold, settings, CollectiveMetrics.NONE, poison);
    Communicator communicator = Communicators.over(engine, table, task);
    if (device != NO_DEVICE) {
      Communicators.use(communicator, CudaDevice.of(device));
      if (copyHub != null) {
        Communicators.attach(
            communicator,
            copyHub.join(task, CudaDevice.of(device), settings.collectiveTimeoutNs(), hub.latch()));
      }
    }
    return communicator;
  }

  private static void join(List<Thread> threads) {
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
          threads.forEach(Thread::interrupt);
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static RuntimeException firstCause(Throwable first, List<Throwable> failures) {
    for (Throwable failure : failures) {
      if (failure != null && failure != first) {
        first.addSuppressed(failure);
      }
    }
    if (first instanceof Error error) {
      throw error;
    }
    if (first instanceof RuntimeException unchecked) {
      return unchecked;
    }
    return new CollectiveException(ErrorCode.PEER_FAILED, "a task failed: " + first, first);
  }
}
