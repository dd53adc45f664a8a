// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.group.GroupSpec;
import org.rankfold.group.ProcessGroups;
import org.rankfold.group.SharedMemoryGroups;
import org.rankfold.group.TcpGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.sharedmemory.SharedSegment;
import org.rankfold.wire.GroupSecret;

/** The one place that decides which transport joins the tasks, from where they live. */
final class GroupJoin {
  private static final List<String> WIRE_ENCRYPTION =
      List.of("spark.network.crypto.enabled", "spark.ssl.rpc.enabled");

  private final String epoch;
  private final List<BootstrapRow> rows;
  private final BootstrapRow own;
  private final GroupConfig config;
  private final ConfigSource source;
  private final CollectiveMetrics metrics;
  private final RankTable table;

  /**
   * A group whose rows are all there.
   *
   * @param epoch the group's
   * @param rows of all tasks, in their order
   * @param own this task's
   * @param source settings, Spark's too
   */
  GroupJoin(
      String epoch,
      List<BootstrapRow> rows,
      BootstrapRow own,
      GroupConfig config,
      ConfigSource source,
      CollectiveMetrics metrics) {
    this.epoch = epoch;
    this.rows = rows;
    this.own = own;
    this.config = config;
    this.source = source;
    this.metrics = metrics;
    this.table = new RankTable(own.world(), rows.size());
  }

  /**
   * Takes this task's seat.
   *
   * @param way what {@link #way} decided
   * @param segment this task's, taken when the way is shared memory
   * @return the communicator, owned by the caller
   * @throws CollectiveException as the transport says
   */
  Communicator join(Way way, SegmentOffer segment) {
    return switch (way) {
      case LOOPBACK -> joinInProcess();
      case SHARED_MEMORY ->
          SharedMemoryGroups.open(
              segment.take(),
              epoch,
              rows.stream().map(BootstrapRow::segment).toList(),
              table,
              own.task(),
              source,
              metrics);
      case TCP ->
          TcpGroups.open(
              ProcessListener.PROCESS.listener(),
              spec(epoch, rows, own, table, source),
              source,
              metrics);
    };
  }

  private Communicator joinInProcess() {
    try {
      return ProcessGroups.PROCESS.join(epoch, table, own.task(), config, metrics);
    } catch (CollectiveException e) {
      ProcessGroups.PROCESS.giveUp(
          epoch, new CollectiveException(ErrorCode.PEER_FAILED, e.getMessage(), e));
      throw e;
    }
  }

  /**
   * Decides, the same on every task, which way joins all of them. A way that was asked for and
   * cannot be gone is refused; {@code auto} takes the first of loopback, shared memory and TCP that
   * reaches every task.
   *
   * @param rows of all tasks, in their order
   * @param config the group's settings
   * @param sharedBytes what the group would take of one host's shared memory
   * @return the way
   * @throws CollectiveException UNSUPPORTED with where the tasks live; TOO_LITTLE_MEMORY with the
   *     bytes
   */
  static Way way(List<BootstrapRow> rows, GroupConfig config, long sharedBytes) {
    BootstrapRow first = rows.get(0);
    boolean together = rows.stream().allMatch(row -> row.process().equals(first.process()));
    return switch (config.transport()) {
      case "loopback" -> {
        if (!together) {
          throw CollectiveException.usage(
              ErrorCode.UNSUPPORTED,
              "spark.rankfold.transport=loopback joins tasks of one JVM, but these live in"
                  + " several: %s",
              rows.stream().map(BootstrapRow::describe).collect(Collectors.joining(", ")));
        }
        yield Way.LOOPBACK;
      }
      case "tcp" -> Way.TCP;
      case "sharedmemory" -> {
        requireShared(rows, sharedBytes);
        yield Way.SHARED_MEMORY;
      }
      default ->
          together
              ? Way.LOOPBACK
              : separation(rows) == null && lacking(rows, sharedBytes) == null
                  ? Way.SHARED_MEMORY
                  : Way.TCP;
    };
  }

  private static void requireShared(List<BootstrapRow> rows, long sharedBytes) {
    String separation = separation(rows);
    if (separation != null) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "spark.rankfold.transport=sharedmemory joins tasks of one host, but %s",
          separation);
    }
    String lacking = lacking(rows, sharedBytes);
    if (lacking != null) {
      throw CollectiveException.usage(ErrorCode.TOO_LITTLE_MEMORY, "%s", lacking);
    }
  }

  /** The first two tasks that cannot share memory, and why; null when all can. */
  private static String separation(List<BootstrapRow> rows) {
    BootstrapRow first = rows.get(0);
    for (BootstrapRow row : rows) {
      String why =
          row.segment().equals(SegmentOffer.NONE) || first.segment().equals(SegmentOffer.NONE)
              ? "one offers no segment"
              : SharedSegment.separation(first.segment(), row.segment());
      if (why != null) {
        return first.describe() + " and " + row.describe() + " share none: " + why;
      }
    }
    return null;
  }

  /** What a task's folder lacks, or null. */
  private static String lacking(List<BootstrapRow> rows, long sharedBytes) {
    for (BootstrapRow row : rows) {
      if (row.sharedFreeBytes() < sharedBytes) {
        return String.format(
            Locale.ROOT,
            "%s: the group's arenas and slots on this host need %,d bytes of shared memory, but"
                + " %,d are available; enlarge it (for /dev/shm of a container: --shm-size, or a"
                + " memory volume) or set spark.rankfold.sharedmemory.dir",
            row.describe(),
            sharedBytes,
            row.sharedFreeBytes());
      }
    }
    return null;
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
