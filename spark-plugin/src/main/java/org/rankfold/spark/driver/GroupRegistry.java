// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.rankfold.spark.driver.TaskReport.State;

/**
 * Who of which group has come how far, from the tasks' reports. Never blocks; time is an argument.
 * Thread-safe.
 */
final class GroupRegistry {
  /** A group nobody spoke of for so long is forgotten: its executors are gone. */
  private static final long FORGET_NS = TimeUnit.MINUTES.toNanos(10);

  private record Heard(TaskReport report, long atNs) {
    long inCallNs(long nowNs) {
      return report.elapsedNs() + nowNs - atNs;
    }
  }

  private static final class Group {
    final Heard[] tasks;
    long lastHeardNs;
    long lastSaidNs = Long.MIN_VALUE;

    Group(int tasks) {
      this.tasks = new Heard[tasks];
    }
  }

  private final Map<String, Group> groups = new LinkedHashMap<>();
  private final long reportAfterNs;
  private long ended;
  private long failed;

  GroupRegistry(long reportAfterNs) {
    this.reportAfterNs = reportAfterNs;
  }

  /**
   * Takes a report.
   *
   * @return lines to say about its group: who is missing from a call that waits too long
   */
  synchronized List<String> accept(TaskReport report, long nowNs) {
    groups.values().removeIf(group -> nowNs - group.lastHeardNs > FORGET_NS);
    Group group = groups.computeIfAbsent(report.epoch(), epoch -> new Group(report.tasks()));
    if (report.task() < 0 || report.task() >= group.tasks.length) {
      return List.of();
    }
    group.tasks[report.task()] = new Heard(report, nowNs);
    group.lastHeardNs = nowNs;
    if (isOver(group)) {
      groups.remove(report.epoch());
      if (count(group, State.FAILED) > 0) {
        failed++;
      } else {
        ended++;
      }
      return List.of();
    }
    return overdue(group, nowNs);
  }

  private static boolean isOver(Group group) {
    return count(group, State.ENDED) + count(group, State.FAILED) == group.tasks.length;
  }

  private static int count(Group group, State state) {
    int count = 0;
    for (Heard heard : group.tasks) {
      count += heard != null && heard.report().state() == state ? 1 : 0;
    }
    return count;
  }

  private List<String> overdue(Group group, long nowNs) {
    Heard first = null;
    for (Heard heard : group.tasks) {
      if (heard != null
          && heard.report().call() != null
          && heard.inCallNs(nowNs) >= reportAfterNs
          && (first == null || heard.report().currentCall() < first.report().currentCall())) {
        first = heard;
      }
    }
    boolean recent = group.lastSaidNs != Long.MIN_VALUE && nowNs - group.lastSaidNs < reportAfterNs;
    if (first == null || recent) {
      return List.of();
    }
    String missing = missing(group, first.report(), nowNs);
    if (missing == null) {
      return List.of();
    }
    group.lastSaidNs = nowNs;
    return List.of(missing);
  }

  private static String missing(Group group, TaskReport waiting, long nowNs) {
    List<String> absent = new ArrayList<>();
    for (int task = 0; task < group.tasks.length; task++) {
      Heard heard = group.tasks[task];
      if (heard == null) {
        absent.add("task " + task + ", never heard of");
      } else if (!hasArrived(heard.report(), waiting.currentCall())) {
        absent.add(
            String.format(
                Locale.ROOT,
                "%s, last finished #%d, silent for %.1f s",
                heard.report().who(),
                heard.report().lastFinished(),
                seconds(heard.inCallNs(nowNs))));
      }
    }
    return absent.isEmpty()
        ? null
        : String.format(
            "%s: %d of %d tasks arrived; missing %s",
            waiting.call(),
            group.tasks.length - absent.size(),
            group.tasks.length,
            String.join("; ", absent));
  }

  private static boolean hasArrived(TaskReport report, long call) {
    return report.currentCall() >= call || report.lastFinished() >= call;
  }

  /** Every group that has not ended, a line a task. */
  synchronized List<String> describe(long nowNs) {
    List<String> lines = new ArrayList<>();
    groups.forEach(
        (epoch, group) -> {
          for (Heard heard : group.tasks) {
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
                      seconds(heard.inCallNs(nowNs)),
                      report.what() == null
                          ? ""
                          : String.format(
                              Locale.ROOT,
                              ", %s %.0f %%",
                              report.what(),
                              100 * report.fraction())));
            }
          }
        });
    return lines;
  }

  private static double seconds(long ns) {
    return (double) ns / TimeUnit.SECONDS.toNanos(1);
  }

  synchronized int active() {
    return groups.size();
  }

  synchronized long ended() {
    return ended;
  }

  synchronized long failed() {
    return failed;
  }
}
