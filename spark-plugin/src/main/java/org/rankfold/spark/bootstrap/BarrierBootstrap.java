// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.util.Arrays;
import java.util.UUID;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.group.ProcessGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;

/** Makes the tasks of a barrier stage a group, with one allGather. */
@InternalApi
public final class BarrierBootstrap {
  private BarrierBootstrap() {}

  /**
   * Joins the group of this stage; blocks about a second.
   *
   * @param context the task's
   * @param world logical ranks
   * @param source settings
   * @param metrics where to count
   * @return the communicator, owned by the caller
   */
  public static Communicator join(
      BarrierTaskContext context, int world, ConfigSource source, CollectiveMetrics metrics) {
    int tasks = context.getTaskInfos().length;
    RankTable table = new RankTable(world, tasks);
    String[] rows = context.allGather(ProcessIdentity.OWN.startNonce() + " " + UUID.randomUUID());
    String process = rows[0].split(" ", 2)[0];
    if (!Arrays.stream(rows).allMatch(row -> row.startsWith(process))) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED, "tasks live in several processes: %s", Arrays.toString(rows));
    }
    String epoch =
        SparkEnv.get().conf().getAppId()
            + "/"
            + context.stageId()
            + "."
            + context.stageAttemptNumber()
            + "/"
            + rows[0].split(" ", 2)[1];
    return ProcessGroups.PROCESS.join(
        epoch, table, context.partitionId(), GroupConfig.of(source), metrics);
  }
}
