// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.math.BigInteger;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.resource.ResourceInformation;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.DeviceConfig;
import org.rankfold.group.GroupConfig;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.liveness.Watchdog;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;

/**
 * Makes the tasks of a barrier stage a group with exactly one allGather (a second, at Spark's
 * pace). A task that is not ready says so in its row, so all make the same calls and all learn who
 * failed.
 */
@InternalApi
public final class BarrierBootstrap {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final BarrierTaskContext context;
  private final int world;
  private final ConfigSource source;
  private final MemoryPlan memory;
  private RankTable table;
  private GroupConfig config;
  private String address = "";
  private SegmentOffer segment = SegmentOffer.none();
  private GpuRow gpu = GpuRow.NONE;

  private BarrierBootstrap(
      BarrierTaskContext context, int world, ConfigSource source, MemoryPlan memory) {
    this.context = context;
    this.world = world;
    this.source = source;
    this.memory = memory;
  }

  /**
   * Joins the group of a stage. Blocks until all tasks of the stage have called, at least about a
   * second; ends by Spark's own timeout ({@code spark.barrier.sync.timeout}) or kill.
   *
   * @param context the task's
   * @param world logical ranks
   * @param source settings, Spark's too
   * @param memory what the group will take
   * @param metrics where to count
   * @return the task's seat
   * @throws CollectiveException on every task when one is not ready, naming it; a usage error keeps
   *     its code, anything else is BOOTSTRAP_FAILED
   */
  public static JoinedGroup join(
      BarrierTaskContext context,
      int world,
      ConfigSource source,
      MemoryPlan memory,
      CollectiveMetrics metrics) {
    return new BarrierBootstrap(context, world, source, memory).join(metrics);
  }

  private JoinedGroup join(CollectiveMetrics metrics) {
    try {
      return joinAll(metrics);
    } finally {
      segment.close();
    }
  }

  private JoinedGroup joinAll(CollectiveMetrics metrics) {
    int tasks = context.getTaskInfos().length;
    if (tasks != context.numPartitions()) {
      // Every task of this attempt sees the same, and an allGather would never be complete.
      throw new CollectiveException(
          ErrorCode.BOOTSTRAP_FAILED,
          String.format(
              "stage %d attempt %d started with tasks=%d != partitions=%d: Spark retried a part of"
                  + " the stage; run it anew",
              context.stageId(), context.stageAttemptNumber(), tasks, context.numPartitions()));
    }
    Throwable failure = prepare(tasks);
    BootstrapRow own = row(tasks, failure);
    List<BootstrapRow> rows = new ArrayList<>();
    for (String text : context.allGather(own.encode())) {
      rows.add(BootstrapRow.decode(text));
    }
    requireReady(rows, failure);
    requireAgreement(rows);
    Way way = GroupJoin.way(rows, config, memory.sharedBytes(table, config));
    requireMemory(rows, way);
    String epoch = epoch(rows.get(0).nonce());
    Watchdog.Watch killed = endWhenKilled();
    try {
      Communicator communicator =
          new GroupJoin(epoch, rows, own, config, source, metrics).join(way, segment);
      Optional<Integer> gpu = GpuJoin.join(rows, own, communicator, source);
      return new JoinedGroup(
          epoch,
          communicator,
          localRank(rows, own),
          own.executor(),
          own.host(),
          own.devices().stream().findFirst(),
          gpu);
    } finally {
      killed.close();
    }
  }

  /**
   * A peer that dies while the group forms is missed by the driver first: Spark fails the stage and
   * kills this task, by a flag only. Every wait of a join ends on an interrupt.
   */
  private Watchdog.Watch endWhenKilled() {
    Thread joining = Thread.currentThread();
    return Watchdog.PROCESS.watch(
        nowNs -> {
          if (context.isInterrupted()) {
            joining.interrupt();
          }
        });
  }

  /** What may fail on one task alone; the failure, or null. */
  private Throwable prepare(int tasks) {
    try {
      table = new RankTable(world, tasks);
      ProcessPoison.PROCESS.requireClean();
      ConfigKeys.all().forEach(key -> key.of(source));
      config = GroupConfig.of(source);
      if (ProcessListener.isNeeded(config)) {
        address = ProcessListener.PROCESS.address(source);
      }
      segment = SegmentOffer.of(table, context.partitionId(), config, source);
      if (DeviceConfig.of(source).isGpu()) {
        gpu = GpuRow.own(gpuAddresses());
      }
      return null;
    } catch (RuntimeException | Error e) {
      return e;
    }
  }

  private BootstrapRow row(int tasks, Throwable failure) {
    return new BootstrapRow(
        context.partitionId(),
        world,
        tasks,
        SparkEnv.get().executorId(),
        SparkEnv.get().blockManager().blockManagerId().host(),
        ProcessIdentity.OWN,
        address,
        segment.row(),
        segment.freeBytes(),
        gpuAddresses(),
        gpu,
        Versions.own(),
        MemoryLimits.own(),
        random(),
        random(),
        failure == null ? null : rowFailure(failure));
  }

  private List<String> gpuAddresses() {
    ResourceInformation gpus = context.resourcesJMap().get("gpu");
    return gpus == null ? List.of() : List.of(gpus.addresses());
  }

  private static BootstrapRow.RowFailure rowFailure(Throwable failure) {
    return failure instanceof CollectiveException known
        ? new BootstrapRow.RowFailure(known.code(), known.getMessage())
        : new BootstrapRow.RowFailure(ErrorCode.INTERNAL, failure.toString());
  }

  private static String random() {
    return new BigInteger(128, RANDOM).toString(Character.MAX_RADIX);
  }

  private String epoch(String nonce) {
    return String.format(
        "%s/stage-%d.%d/%s",
        SparkEnv.get().conf().getAppId(), context.stageId(), context.stageAttemptNumber(), nonce);
  }

  static int localRank(List<BootstrapRow> rows, BootstrapRow own) {
    return (int)
        rows.stream()
            .filter(row -> row.task() < own.task())
            .filter(row -> row.process().bootId().equals(own.process().bootId()))
            .filter(row -> row.host().equals(own.host()))
            .count();
  }

  static void requireReady(List<BootstrapRow> rows, Throwable ownFailure) {
    List<BootstrapRow> failed = rows.stream().filter(row -> row.failure() != null).toList();
    if (failed.isEmpty()) {
      return;
    }
    if (ownFailure instanceof CollectiveException fatal
        && fatal.category() == ErrorCategory.PROCESS_FATAL) {
      throw fatal;
    }
    BootstrapRow first = failed.get(0);
    ErrorCode code = first.failure().code();
    String text =
        first.describe()
            + " is not ready: "
            + first.failure().text()
            + (failed.size() == 1 ? "" : " (and " + (failed.size() - 1) + " more tasks)");
    throw new CollectiveException(
        code.category() == ErrorCategory.USAGE ? code : ErrorCode.BOOTSTRAP_FAILED,
        text,
        ownFailure);
  }

  static void requireAgreement(List<BootstrapRow> rows) {
    BootstrapRow first = rows.get(0);
    for (int task = 0; task < rows.size(); task++) {
      BootstrapRow row = rows.get(task);
      requireEqual(ErrorCode.PROTOCOL, task, "row", row.task(), 0, task);
      requireEqual(ErrorCode.INVALID_WORLD, task, "world", row.world(), 0, first.world());
      requireEqual(ErrorCode.INVALID_WORLD, task, "tasks", row.tasks(), 0, first.tasks());
      requireEqual(
          ErrorCode.UNSUPPORTED,
          task,
          "contract version",
          row.versions().contract(),
          0,
          first.versions().contract());
      requireEqual(
          ErrorCode.UNSUPPORTED,
          task,
          "rankfold version",
          row.versions().rankfold(),
          0,
          first.versions().rankfold());
    }
  }

  private static void requireEqual(
      ErrorCode code, int task, String what, Object value, int otherTask, Object other) {
    if (!value.equals(other)) {
      throw new CollectiveException(
          code,
          String.format(
              "task=%d %s=%s != task=%d %s=%s", task, what, value, otherTask, what, other));
    }
  }

  /** Every task computes every process's plan, so all refuse alike. */
  private void requireMemory(List<BootstrapRow> rows, Way way) {
    for (BootstrapRow row : rows) {
      List<Integer> together =
          rows.stream()
              .filter(other -> other.process().equals(row.process()))
              .map(BootstrapRow::task)
              .toList();
      memory.require(
          row.describe(), table, together, config, row.memory(), way == Way.SHARED_MEMORY);
    }
  }
}
