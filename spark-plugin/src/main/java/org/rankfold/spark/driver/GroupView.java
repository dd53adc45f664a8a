// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.rankfold.spark.driver.TaskReport.State;

/**
 * What the driver knows of one group: each task's last report and when it came. Time is an
 * argument; owned by the registry's lock.
 */
final class GroupView {
  /** Reports come every second; a process that missed several may be gone. */
  private static final long LATE_NS = TimeUnit.SECONDS.toNanos(3);

  private record Heard(TaskReport report, long atNs) {
    long sinceNs(long nowNs) {
      return report.elapsedNs() + nowNs - atNs;
    }
  }

  /**
   * Who is missing from a call.
   *
   * @param call its number
   * @param tasks who has not come to it
   * @param text the call, how many came, who did not and since when
   */
  record Missing(long call, BitSet tasks, String text) {}

  private final String run;
  private final Heard[] tasks;
  private long lastHeardNs;
  private Missing said;

  GroupView(String run, int tasks) {
    this.run = run;
    this.tasks = new Heard[tasks];
  }

  String run() {
    return run;
  }

  long lastHeardNs() {
    return lastHeardNs;
  }

  /** Takes a report; false when it cannot be of this group. */
  boolean accept(TaskReport report, long nowNs) {
    if (report.task() < 0 || report.task() >= tasks.length) {
      return false;
    }
    tasks[report.task()] = new Heard(report, nowNs);
    lastHeardNs = nowNs;
    return true;
  }

  int tasks() {
    return tasks.length;
  }

  int count(State state) {
    int count = 0;
    for (Heard heard : tasks) {
      count += heard != null && heard.report().state() == state ? 1 : 0;
    }
    return count;
  }

  /** Tasks that have told how they ended. */
  int over() {
    return count(State.ENDED) + count(State.FAILED);
  }

  /** Who is missing from the first call that a task waits in for so long, or null. */
  Missing missing(long waitedNs, long nowNs) {
    TaskReport waiting = null;
    for (Heard heard : tasks) {
      if (heard != null
          && heard.report().call() != null
          && heard.sinceNs(nowNs) >= waitedNs
          && (waiting == null || heard.report().currentCall() < waiting.currentCall())) {
        waiting = heard.report();
      }
    }
    return waiting == null ? null : missingFrom(waiting, nowNs);
  }

  /** Who was missing from the call in which tasks failed, or null. */
  Missing missingAtTheEnd(long nowNs) {
    TaskReport waiting = null;
    for (Heard heard : tasks) {
      if (heard != null
          && heard.report().state() == State.FAILED
          && heard.report().call() != null
          && (waiting == null || heard.report().currentCall() > waiting.currentCall())) {
        waiting = heard.report();
      }
    }
    return waiting == null ? missing(0, nowNs) : missingFrom(waiting, nowNs);
  }

  private Missing missingFrom(TaskReport waiting, long nowNs) {
    long call = waiting.currentCall();
    BitSet absent = new BitSet();
    List<String> texts = new ArrayList<>();
    for (int task = 0; task < tasks.length; task++) {
      Heard heard = tasks[task];
      if (heard == null
          || (heard.report().currentCall() < call && heard.report().lastFinished() < call)) {
        absent.set(task);
        texts.add(describe(task, nowNs));
      }
    }
    return texts.isEmpty()
        ? null
        : new Missing(
            call,
            absent,
            String.format(
                "%s: %d of %d tasks arrived; missing %s",
                waiting.call(),
                tasks.length - texts.size(),
                tasks.length,
                String.join("; ", texts)));
  }

  private String describe(int task, long nowNs) {
    Heard heard = tasks[task];
    if (heard == null) {
      return "task " + task + ", never heard of";
    }
    TaskReport report = heard.report();
    long unheardNs = nowNs - heard.atNs();
    return String.format(
        Locale.ROOT,
        "%s, last finished #%d, silent for %.1f s%s",
        report.who(),
        report.lastFinished(),
        seconds(heard.sinceNs(nowNs)),
        report.state() == State.RUNNING && unheardNs >= LATE_NS
            ? String.format(
                Locale.ROOT, " (its process last reported %.1f s ago)", seconds(unheardNs))
            : "");
  }

  /** Whether it was not said before: another call, or others than then. It counts as said now. */
  boolean isNews(Missing missing) {
    boolean isNews =
        said == null || said.call() != missing.call() || !said.tasks().equals(missing.tasks());
    said = missing;
    return isNews;
  }

  /** A line a task. */
  List<String> describe(String epoch, long nowNs) {
    List<String> lines = new ArrayList<>();
    for (Heard heard : tasks) {
      if (heard != null) {
        TaskReport report = heard.report();
        lines.add(
            String.format(
                Locale.ROOT,
                "%s: %s: %s, finished #%d, %s for %.1f s%s",
                epoch,
                report.who(),
                report.state(),
                report.lastFinished(),
                report.call() == null ? "in its own code" : "in " + report.call(),
                seconds(heard.sinceNs(nowNs)),
                report.what() == null
                    ? ""
                    : String.format(
                        Locale.ROOT, ", %s %.0f %%", report.what(), 100 * report.fraction())));
      }
    }
    return lines;
  }

  private static double seconds(long ns) {
    return (double) ns / TimeUnit.SECONDS.toNanos(1);
  }
}
