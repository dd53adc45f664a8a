// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.spark.bootstrap.BarrierBootstrap;
import org.rankfold.spark.bootstrap.JoinedGroup;
import org.rankfold.spark.bootstrap.MemoryPlan;
import org.rankfold.spark.executor.ExecutorProcess;
import org.rankfold.spark.executor.TaskGuard;

/**
 * A task's place in its group. Used by the task's thread, except {@link #checkAbort()} and {@link
 * #progress(String, double)}, which any thread may call.
 */
public final class RankContext implements AutoCloseable {
  private final JoinedGroup group;
  private final CommunicatorInfo info;
  private final TaskGuard guard;
  private final long seed;
  private final Deadline deadline;
  private final int attempt;

  private RankContext(
      JoinedGroup group, TaskGuard guard, long seed, Deadline deadline, int attempt) {
    this.group = group;
    this.info = group.communicator().info();
    this.guard = guard;
    this.seed = seed;
    this.deadline = deadline;
    this.attempt = attempt;
  }

  /**
   * Joins the group of a barrier stage of one's own; all tasks of the stage must call it. Blocks
   * about a second, Spark's pace. When the task fails, so does the group, with the task's exception
   * as the first cause; when it ends well, Spark's completion listeners wait for the other tasks
   * and leave the group.
   *
   * @param context the task's
   * @param world logical ranks, at least as many as tasks, the same on every task
   * @return the context; it lives until the task ends
   * @throws CollectiveException on every task when one of them could not join, or when Spark was
   *     built for another Scala than 2.13
   */
  public static RankContext open(BarrierTaskContext context, int world) {
    ScalaRelease.require();
    RankContext opened = join(context, world, Map.of(), new MemoryPlan(List.of()), RunAttempt.NONE);
    TaskEnd.attach(context, opened.guard);
    return opened;
  }

  static RankContext join(
      BarrierTaskContext context,
      int world,
      Map<String, String> overrides,
      MemoryPlan memory,
      RunAttempt attempt) {
    ConfigSource source =
        key -> {
          String text = overrides.get(key);
          return text == null ? SparkEnv.get().conf().get(key, null) : text;
        };
    JoinedGroup group =
        BarrierBootstrap.join(context, world, source, memory, ExecutorProcess.CURRENT.metrics());
    try {
      Deadline deadline = Deadline.after(System.nanoTime(), ConfigKeys.RUN_TIMEOUT.of(source));
      return new RankContext(
          group,
          new TaskGuard(context, attempt.id(), group, deadline),
          ConfigKeys.SEED.of(source),
          deadline,
          attempt.number());
    } catch (RuntimeException | Error e) {
      group.communicator().abort(e);
      group.communicator().close();
      throw e;
    }
  }

  TaskGuard guard() {
    return guard;
  }

  /**
   * The number of logical ranks.
   *
   * @return L
   */
  public int world() {
    return info.world();
  }

  /**
   * The number of tasks.
   *
   * @return T, at most {@link #world()}
   */
  public int tasks() {
    return info.tasks();
  }

  /**
   * This task's number, its partition's.
   *
   * @return from 0
   */
  public int task() {
    return info.task();
  }

  /**
   * This task's place among the group's tasks on its host.
   *
   * @return from 0
   */
  public int localRank() {
    return group.localRank();
  }

  /**
   * The first logical rank this task hosts.
   *
   * @return from 0
   */
  public int firstRank() {
    return info.firstRank();
  }

  /**
   * How many logical ranks this task hosts.
   *
   * @return at least 1
   */
  public int rankCount() {
    return info.rankCount();
  }

  /**
   * How often the run has been submitted, this time included: a body that finds more than 1 begins
   * again after the group was lost, and may go on from what it has saved.
   *
   * @return from 1; always 1 in a barrier stage of one's own
   */
  public int attempt() {
    return attempt;
  }

  /**
   * The group's id, the same on its tasks and another for every attempt: what keeps a task of an
   * earlier attempt out.
   *
   * @return application, stage, stage attempt and a random part
   */
  public String group() {
    return group.epoch();
  }

  /**
   * The host as Spark names it.
   *
   * @return a name or address
   */
  public String host() {
    return group.host();
  }

  /**
   * The GPU Spark assigned to this task.
   *
   * @return its address as Spark has it, or empty
   */
  public Optional<String> device() {
    return group.device();
  }

  /**
   * The GPU this task uses in a group with {@code spark.rankfold.device=gpu}.
   *
   * @return its ordinal in this process, or empty in a group without devices
   */
  public Optional<Integer> gpu() {
    return group.gpu();
  }

  /**
   * The task's communicator. It belongs to this context, which closes it when the task ends.
   *
   * @return always the same
   */
  public Communicator communicator() {
    return group.communicator();
  }

  /**
   * The random stream of a logical rank, from its beginning; it depends on {@code
   * spark.rankfold.seed} and the rank only, so any task may ask for any rank's.
   *
   * @param logicalRank from 0, below {@link #world()}
   * @return a new stream
   * @throws CollectiveException INVALID_ARGUMENT for a rank outside the world
   */
  public SeedStream seeds(int logicalRank) {
    if (logicalRank < 0 || logicalRank >= info.world()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "logicalRank=%d is not below world=%d",
          logicalRank,
          info.world());
    }
    return SeedStream.of(seed, logicalRank);
  }

  /**
   * When this run must have ended: {@code spark.rankfold.timeout.run} after it began.
   *
   * @return on the {@link System#nanoTime()} line
   */
  public Deadline deadline() {
    return deadline;
  }

  /**
   * Throws when the group is lost, for loops that make no calls for a while.
   *
   * @throws CollectiveException the first cause
   */
  public void checkAbort() {
    group.communicator().checkAbort();
  }

  /**
   * Tells the driver how far this task has come; cheap, and shown only when the plugin is there.
   *
   * @param what for example {@code epoch 3}
   * @param fraction from 0 to 1
   */
  public void progress(String what, double fraction) {
    guard.progress(what, fraction);
  }

  /**
   * Does nothing yet: the task leaves the group when it ends, after the other tasks have come as
   * far, and what it throws until then is the group's failure. There so that a context can be the
   * resource of a {@code try}.
   */
  @Override
  public void close() {}
}
