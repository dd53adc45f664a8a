// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import java.util.List;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.engine.Engine;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.transport.sharedmemory.SharedMemoryOptions;
import org.rankfold.transport.sharedmemory.SharedSegment;

/**
 * Opens groups whose tasks live in processes of one host. A bootstrap prepares a task's segment,
 * publishes its row, and opens the group with the rows of all.
 */
@InternalApi
public final class SharedMemoryGroups {
  private SharedMemoryGroups() {}

  /**
   * Makes a task's segment.
   *
   * @param table who hosts what
   * @param task this task
   * @param source the settings, the same on all tasks
   * @return the segment, owned by the caller until {@link #open} takes it
   * @throws org.rankfold.errors.CollectiveException PROCESS_POISONED; INVALID_CONFIG; UNSUPPORTED
   *     and TOO_LITTLE_MEMORY as {@link SharedSegment#create} says
   */
  public static SharedSegment prepare(RankTable table, int task, ConfigSource source) {
    ProcessPoison.PROCESS.requireClean();
    GroupConfig config = GroupConfig.of(source);
    return SharedSegment.create(
        table,
        task,
        new SharedMemoryOptions(
            ConfigKeys.SHARED_MEMORY_DIR.of(source),
            config.engine().chunkBytes(),
            config.pathRule() != PathRule.STAGED,
            config.pathRule() == PathRule.MAPPED,
            ConfigKeys.PEER_TIMEOUT.of(source)));
  }

  /**
   * Joins a group. Blocks until all tasks have, at most {@code spark.rankfold.timeout.connect}.
   *
   * @param segment this task's, owned by the communicator from now on, and closed after an error
   * @param epoch the group's id, the same for its tasks and for no other group
   * @param rows of all tasks, by task
   * @param table who hosts what
   * @param task this task
   * @param source the settings, the same on all tasks
   * @param metrics where to count
   * @return the task's communicator, owned by the caller
   * @throws org.rankfold.errors.CollectiveException as {@link SharedSegment#join} says
   */
  public static Communicator open(
      SharedSegment segment,
      String epoch,
      List<String> rows,
      RankTable table,
      int task,
      ConfigSource source,
      CollectiveMetrics metrics) {
    GroupConfig config = GroupConfig.of(source);
    Transport transport = segment.join(epoch, rows, ConfigKeys.CONNECT_TIMEOUT.of(source));
    return Communicators.over(
        new Engine(
            table, task, transport, config.fold(), config.engine(), metrics, ProcessPoison.PROCESS),
        table,
        task);
  }
}
