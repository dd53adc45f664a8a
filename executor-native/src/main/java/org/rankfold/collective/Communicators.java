// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

import org.rankfold.InternalApi;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineProgress;
import org.rankfold.transport.RankTable;

/** Opens communicators; called by groups. */
@InternalApi
public final class Communicators {
  private Communicators() {}

  /**
   * A communicator over an engine.
   *
   * @param engine the task's engine, owned by the communicator from now on
   * @param table who hosts what
   * @param task this task
   * @return the communicator
   */
  public static Communicator over(Engine engine, RankTable table, int task) {
    return new EngineCommunicator(
        engine,
        new CommunicatorInfo(
            table.world(),
            table.tasks(),
            task,
            table.firstRank(task),
            table.rankCount(task),
            engine.transportName(),
            engine.pathName()));
  }

  /**
   * How far a communicator's task has come. May be called by any thread.
   *
   * @param communicator one that {@link #over} made, or any other
   * @return a consistent state, or null for any other
   */
  public static EngineProgress progress(Communicator communicator) {
    return communicator instanceof EngineCommunicator own ? own.progress() : null;
  }
}
