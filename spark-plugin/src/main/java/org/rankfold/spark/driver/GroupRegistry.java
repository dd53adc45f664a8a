// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.rankfold.spark.driver.TaskReport.State;

/**
 * Who of which group has come how far, from the tasks' reports. Never blocks; time is an argument.
 * Thread-safe.
 */
final class GroupRegistry {
  /** A group nobody spoke of for so long is forgotten: its executors are gone. */
  private static final long FORGET_NS = TimeUnit.MINUTES.toNanos(10);

  /** Groups that have ended and may still be asked for. */
  private static final int REMEMBERED = 64;

  private final Map<String, GroupView> groups = new LinkedHashMap<>();
  private final Map<String, GroupView> endedGroups = new LinkedHashMap<>();
  private final long reportAfterNs;
  private long ended;
  private long failed;

  GroupRegistry(long reportAfterNs) {
    this.reportAfterNs = reportAfterNs;
  }

  /**
   * Takes a report.
   *
   * @return lines to say about its group: who is missing from a call that waits too long, once
   */
  synchronized List<String> accept(TaskReport report, long nowNs) {
    groups.values().removeIf(group -> nowNs - group.lastHeardNs() > FORGET_NS);
    GroupView late = endedGroups.get(report.epoch());
    if (late != null) {
      late.accept(report, nowNs);
      return List.of();
    }
    GroupView group =
        groups.computeIfAbsent(
            report.epoch(), epoch -> new GroupView(report.run(), report.tasks()));
    if (!group.accept(report, nowNs)) {
      return List.of();
    }
    if (group.over() == group.tasks()) {
      end(report.epoch(), group);
      return List.of();
    }
    GroupView.Missing missing = group.missing(reportAfterNs, nowNs);
    return missing == null || !group.isNews(missing) ? List.of() : List.of(missing.text());
  }

  private void end(String epoch, GroupView group) {
    groups.remove(epoch);
    endedGroups.put(epoch, group);
    if (endedGroups.size() > REMEMBERED) {
      endedGroups.remove(endedGroups.keySet().iterator().next());
    }
    if (group.count(State.ENDED) == group.tasks()) {
      ended++;
    } else {
      failed++;
    }
  }

  /**
   * Who was missing when a run failed.
   *
   * @param text as a line of {@link #accept}
   * @param isNews whether it was not said before; it counts as said now
   */
  record Ending(String text, boolean isNews) {}

  /** Whether a report more could say who was missing from a run: more than one has not ended. */
  synchronized boolean isAwaited(String run) {
    GroupView group = group(run);
    return group != null && group.over() < group.tasks() - 1;
  }

  /** Who was missing when a run failed, or null when its reports do not say it. */
  synchronized Ending ending(String run, long nowNs) {
    GroupView group = group(run);
    GroupView.Missing missing = group == null ? null : group.missingAtTheEnd(nowNs);
    return missing == null ? null : new Ending(missing.text(), group.isNews(missing));
  }

  /** A run is over, whatever its tasks have not told. */
  synchronized void conclude(String run) {
    groups.entrySet().stream()
        .filter(entry -> entry.getValue().run().equals(run))
        .findFirst()
        .ifPresent(entry -> end(entry.getKey(), entry.getValue()));
  }

  private GroupView group(String run) {
    return Stream.concat(groups.values().stream(), endedGroups.values().stream())
        .filter(group -> group.run().equals(run))
        .findFirst()
        .orElse(null);
  }

  /** Every group that has not ended, a line a task. */
  synchronized List<String> describe(long nowNs) {
    List<String> lines = new ArrayList<>();
    groups.forEach((epoch, group) -> lines.addAll(group.describe(epoch, nowNs)));
    return lines;
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
