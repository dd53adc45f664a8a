// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.group.ProcessGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;

/** The one place that decides which transport joins the tasks, from where they live. */
final class GroupJoin {
  private static final List<String> WIRE_ENCRYPTION =
      List.of("spark.network.crypto.enabled", "spark.ssl.rpc.enabled");

  private GroupJoin() {}

  /**
   * Decides, the same on every task, and takes this task's seat.
   *
   * @param epoch the group's
   * @param rows of all tasks, in their order
   * @param own this task's
   * @param source settings, Spark's too
   * @return the communicator, owned by the caller
   * @throws CollectiveException UNSUPPORTED when tasks live in several processes
   */
  static Communicator join(
      String epoch,
      List<BootstrapRow> rows,
      BootstrapRow own,
      GroupConfig config,
      ConfigSource source,
      CollectiveMetrics metrics) {
    requireOneProcess(rows, source);
    RankTable table = new RankTable(own.world(), rows.size());
    try {
      return ProcessGroups.PROCESS.join(epoch, table, own.task(), config, metrics);
    } catch (CollectiveException e) {
      ProcessGroups.PROCESS.giveUp(
          epoch, new CollectiveException(ErrorCode.PEER_FAILED, e.getMessage(), e));
      throw e;
    }
  }

  static void requireOneProcess(List<BootstrapRow> rows, ConfigSource source) {
    BootstrapRow first = rows.get(0);
    if (rows.stream().allMatch(row -> row.process().equals(first.process()))) {
      return;
    }
    StringBuilder where = new StringBuilder();
    for (BootstrapRow row : rows) {
      where.append(where.length() == 0 ? "" : ", ").append(row.describe());
    }
    StringBuilder text =
        new StringBuilder("tasks live in several processes: ")
            .append(where)
            .append("; this build joins tasks of one JVM only: use a local master, or one executor")
            .append(" with as many cores as tasks");
    for (String key : WIRE_ENCRYPTION) {
      if ("true".equals(source.value(key))) {
        text.append("; ").append(key).append("=true asks for encryption that no transport gives");
      }
    }
    throw CollectiveException.usage(ErrorCode.UNSUPPORTED, "%s", text);
  }
}
