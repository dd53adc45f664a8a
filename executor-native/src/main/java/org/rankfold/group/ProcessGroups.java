// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import java.util.HashMap;
import java.util.Map;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.engine.Engine;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.loopback.DeliveryFault;
import org.rankfold.transport.loopback.LoopbackHub;

/**
 * Where the tasks of one process find the hub of their group, by the group's epoch. One instance a
 * process; a hub goes when its last task has taken its seat or the group was given up.
 */
@InternalApi
public final class ProcessGroups {
  /** The process's own. */
  public static final ProcessGroups PROCESS = new ProcessGroups(ProcessPoison.PROCESS);

  private record Forming(LoopbackHub hub, RankTable table, int joined) {}

  private final Map<String, Forming> forming = new HashMap<>();
  private final ProcessPoison poison;

  /**
   * An empty registry; other than {@link #PROCESS} for tests.
   *
   * @param poison what refuses new groups
   */
  public ProcessGroups(ProcessPoison poison) {
    this.poison = poison;
  }

  /**
   * Takes a task's seat in a group whose tasks all live in this process. Does not block.
   *
   * @param epoch the group's id, the same for its tasks and for no other group
   * @param table who hosts what
   * @param task this task
   * @param config the group's settings
   * @param metrics where to count
   * @return the task's communicator, owned by the caller
   * @throws CollectiveException PROCESS_POISONED; STALE_GROUP when the epoch is known with another
   *     table
   */
  public Communicator join(
      String epoch, RankTable table, int task, GroupConfig config, CollectiveMetrics metrics) {
    poison.requireClean();
    LoopbackHub hub;
    synchronized (forming) {
      Forming group = forming.get(epoch);
      if (group == null) {
        group = new Forming(new LoopbackHub(table, config.loopback(DeliveryFault.NONE)), table, 0);
      } else if (!group.table().equals(table)) {
        throw new CollectiveException(
            ErrorCode.STALE_GROUP,
            "group " + epoch + ": task=" + task + " " + table + " != " + group.table());
      }
      hub = group.hub();
      if (group.joined() + 1 == table.tasks()) {
        forming.remove(epoch);
      } else {
        forming.put(epoch, new Forming(hub, table, group.joined() + 1));
      }
    }
    return Communicators.over(
        new Engine(table, task, hub.join(task), config.fold(), config.engine(), metrics, poison),
        table,
        task);
  }

  /**
   * Forgets a group that will not form, and fails the tasks that have joined it.
   *
   * @param epoch the group's id
   * @param cause why
   */
  public void giveUp(String epoch, CollectiveException cause) {
    Forming group;
    synchronized (forming) {
      group = forming.remove(epoch);
    }
    if (group != null) {
      group.hub().latch().trip(cause);
    }
  }
}
