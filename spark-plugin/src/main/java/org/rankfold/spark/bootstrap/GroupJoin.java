// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.group.GroupSpec;
import org.rankfold.group.ProcessGroups;
import org.rankfold.group.TcpGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.wire.GroupSecret;

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
   * @throws CollectiveException UNSUPPORTED when the transport asked for cannot join the tasks, or
   *     cannot encrypt as Spark was told to
   */
  static Communicator join(
      String epoch,
      List<BootstrapRow> rows,
      BootstrapRow own,
      GroupConfig config,
      ConfigSource source,
      CollectiveMetrics metrics) {
    RankTable table = new RankTable(own.world(), rows.size());
    if (isTcp(rows, config)) {
      GroupSpec spec = spec(epoch, rows, own, table, source);
      return TcpGroups.open(ProcessListener.PROCESS.listener(), spec, source, metrics);
    }
    try {
      return ProcessGroups.PROCESS.join(epoch, table, own.task(), config, metrics);
    } catch (CollectiveException e) {
      ProcessGroups.PROCESS.giveUp(
          epoch, new CollectiveException(ErrorCode.PEER_FAILED, e.getMessage(), e));
      throw e;
    }
  }

  /** Whether bytes must leave the process; refuses when they must and may not. */
  static boolean isTcp(List<BootstrapRow> rows, GroupConfig config) {
    BootstrapRow first = rows.get(0);
    boolean together = rows.stream().allMatch(row -> row.process().equals(first.process()));
    if (!together && config.transport().equals("loopback")) {
      StringBuilder where = new StringBuilder();
      for (BootstrapRow row : rows) {
        where.append(where.length() == 0 ? "" : ", ").append(row.describe());
      }
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "spark.rankfold.transport=loopback joins tasks of one JVM, but these live in several: %s",
          where);
    }
    return !together || config.transport().equals("tcp");
  }

  private static GroupSpec spec(
      String epoch,
      List<BootstrapRow> rows,
      BootstrapRow own,
      RankTable table,
      ConfigSource source) {
    byte[] secret = rows.get(0).secret().getBytes(StandardCharsets.US_ASCII);
    return new GroupSpec(
        new GroupSecret(epoch, secret),
        table,
        own.task(),
        rows.stream().map(row -> ProcessListener.parse(row.address())).toList(),
        isEncrypted(source));
  }

  /** Whether Spark was told to encrypt what travels. */
  static boolean isEncrypted(ConfigSource source) {
    return WIRE_ENCRYPTION.stream().anyMatch(key -> "true".equals(source.value(key)));
  }
}
