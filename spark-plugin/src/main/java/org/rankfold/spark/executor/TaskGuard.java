// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.executor;

import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.collective.Communicators;
import org.rankfold.deadline.Deadline;
import org.rankfold.engine.EngineProgress;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.liveness.Watchdog;
import org.rankfold.spark.bootstrap.JoinedGroup;
import org.rankfold.spark.driver.TaskReport;
import scala.Option;

/**
 * Ends the group when its task must end: when the user's code throws, when Spark kills the task (it
 * may do so without an interrupt, so the kill flag is polled), when the run's time is up. Reports
 * to the driver meanwhile. {@link #fail} and {@link #close} are the task thread's.
 */
@InternalApi
public final class TaskGuard implements AutoCloseable {
  private static final long REPORT_EVERY_NS = TimeUnit.SECONDS.toNanos(1);

  private record Said(String what, double fraction) {}

  private final TaskContext context;
  private final String run;
  private final JoinedGroup group;
  private final Communicator communicator;
  private final Deadline deadline;
  private final ExecutorProcess process;
  private final FatalExit fatalExit;
  private final String who;
  private final Watchdog.Watch watch;
  private volatile Said said = new Said(null, 0);
  private long lastReportNs;
  private boolean failed;
  private boolean closed;

  /**
   * Guards a task from now on.
   *
   * @param context the task's
   * @param run the run that formed the group, or empty
   * @param group its seat; the guard closes the communicator
   * @param deadline when the run must have ended
   */
  public TaskGuard(TaskContext context, String run, JoinedGroup group, Deadline deadline) {
    this.context = context;
    this.run = run;
    this.group = group;
    this.communicator = group.communicator();
    this.deadline = deadline;
    this.process = ExecutorProcess.CURRENT;
    this.fatalExit = new FatalExit(group.executor(), Runtime.getRuntime()::halt);
    this.who = describe(communicator.info(), group);
    this.lastReportNs = System.nanoTime() - REPORT_EVERY_NS;
    this.watch = Watchdog.PROCESS.watch(this::look);
  }

  private static String describe(CommunicatorInfo info, JoinedGroup group) {
    int last = info.firstRank() + info.rankCount() - 1;
    return (info.rankCount() == 1
            ? "logical rank " + last
            : "logical ranks " + info.firstRank() + ".." + last)
        + " (task "
        + info.task()
        + ", executor "
        + group.executor()
        + ", host "
        + group.host()
        + group.device().map(gpu -> ", GPU " + gpu).orElse("")
        + ")";
  }

  /** On the watchdog's thread. */
  private void look(long nowNs) {
    if (context.isInterrupted()) {
      communicator.abort(cancelled(null));
    } else if (deadline.isExpired(nowNs)) {
      communicator.abort(
          new CollectiveException(
              ErrorCode.TIMEOUT,
              String.format(
                  "%s: the run has lasted longer than %.1f s (spark.rankfold.timeout.run)",
                  who, deadline.budgetSeconds())));
    }
    if (nowNs - lastReportNs >= REPORT_EVERY_NS) {
      lastReportNs = nowNs;
      report(TaskReport.State.RUNNING, nowNs);
    }
  }

  private CollectiveException cancelled(Throwable cause) {
    Option<String> reason = context.getKillReason();
    return new CollectiveException(
        ErrorCode.CANCELLED,
        who + " was killed by Spark: " + (reason.isDefined() ? reason.get() : "no reason given"),
        cause);
  }

  /**
   * What the next report says.
   *
   * @param what the user's words
   * @param fraction from 0 to 1
   */
  public void progress(String what, double fraction) {
    said = new Said(what, fraction);
  }

  /**
   * Ends the group because the task failed; on a real executor also the process when it is no
   * longer safe.
   *
   * @param failure what the task's code threw
   * @return the group's first cause, which may be another task's
   */
  public Throwable fail(Throwable failure) {
    failed = true;
    communicator.abort(context.isInterrupted() ? cancelled(failure) : failure);
    fatalExit.onFailure(failure);
    try {
      communicator.checkAbort();
    } catch (CollectiveException e) {
      return e.getCause();
    }
    return failure;
  }

  /**
   * Waits until every task of the group has come here: the last act of a task that did not fail.
   *
   * @throws CollectiveException when another task fails first
   */
  public void awaitPeers() {
    communicator.barrier();
  }

  /** Leaves the group; idempotent. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      watch.close();
      // Before the goodbyes, which wait for peers: the driver may be asked now who was missing.
      report(failed ? TaskReport.State.FAILED : TaskReport.State.ENDED, System.nanoTime());
      communicator.close();
    }
  }

  private void report(TaskReport.State state, long nowNs) {
    EngineProgress progress = Communicators.progress(communicator);
    if (progress == null) {
      return;
    }
    Said words = said;
    boolean calling = progress.current() != null;
    process.report(
        new TaskReport(
            run,
            group.epoch(),
            communicator.info().tasks(),
            communicator.info().task(),
            who,
            state,
            progress.lastFinished(),
            calling ? progress.current().number() : 0,
            calling ? progress.current().describe() : null,
            Math.max(0, nowNs - progress.sinceNs()),
            words.what(),
            words.fraction()));
  }
}
