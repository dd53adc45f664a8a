// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

import org.rankfold.InternalApi;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineProgress;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.cudapeer.PeerReach;

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
   * Gives a communicator's task its device.
   *
   * @param communicator one that {@link #over} made
   * @param device where the task allocates
   */
  public static void use(Communicator communicator, CudaDevice device) {
    ((EngineCommunicator) communicator).use(device);
  }

  /**
   * Lets a communicator move device memory by an exchange; every task does so at the same point of
   * its calls.
   *
   * @param communicator one that {@link #over} made
   * @param exchange joined by all tasks, the communicator's from now on
   */
  public static void attach(Communicator communicator, DeviceExchange exchange) {
    ((EngineCommunicator) communicator).attach(exchange);
  }

  /**
   * Lets a communicator read and write device memory where it lies; every task does so at the same
   * point of its calls.
   *
   * @param communicator one that {@link #over} made
   * @param reach joined by all tasks, the communicator's from now on
   */
  public static void attach(Communicator communicator, PeerReach reach) {
    ((EngineCommunicator) communicator).attach(reach);
  }

  /**
   * Whether tasks of a communicator's group can be in each other's device memory.
   *
   * @param communicator one that {@link #over} made
   * @return false over a transport that cannot say who is inside
   */
  public static boolean mayReachPeers(Communicator communicator) {
    return ((EngineCommunicator) communicator).engine().mayReachPeers();
  }

  /**
   * The latch of a communicator's group.
   *
   * @param communicator one that {@link #over} made
   * @return the latch, as its task sees it
   */
  public static AbortLatch latch(Communicator communicator) {
    return ((EngineCommunicator) communicator).engine().latch();
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
