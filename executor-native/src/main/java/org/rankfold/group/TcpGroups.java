// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.Communicators;
import org.rankfold.config.ConfigSource;
import org.rankfold.engine.Engine;
import org.rankfold.engine.EngineSettings;
import org.rankfold.errors.CollectiveException;
import org.rankfold.liveness.ProcessPoison;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.tcp.MeshJoin;
import org.rankfold.transport.tcp.TcpListener;
import org.rankfold.transport.tcp.TcpOptions;
import org.rankfold.transport.tcp.TcpTransport;

/**
 * Opens groups whose tasks live in several processes. A bootstrap opens a {@link TcpListener} once
 * a process, publishes its address, and opens a group once it knows all addresses.
 */
@InternalApi
public final class TcpGroups {
  private TcpGroups() {}

  /**
   * Joins a group: connects to all its tasks. Blocks until all are connected, at most {@code
   * spark.rankfold.timeout.connect}.
   *
   * @param listener this process's listener; the caller keeps it open until the communicator is
   *     closed
   * @param spec the group
   * @param source the settings, the same on all tasks
   * @param metrics where to count
   * @return the task's communicator, owned by the caller
   * @throws CollectiveException PROCESS_POISONED; INVALID_CONFIG; BOOTSTRAP_FAILED, STALE_GROUP and
   *     CANCELLED as {@link MeshJoin#open} says
   */
  public static Communicator open(
      TcpListener listener, GroupSpec spec, ConfigSource source, CollectiveMetrics metrics) {
    ProcessPoison.PROCESS.requireClean();
    GroupConfig config = GroupConfig.of(source);
    TcpOptions options = TcpOptions.of(source, spec.table().tasks(), spec.encrypt());
    EngineSettings settings =
        new EngineSettings(
            options.chunkBytes(),
            config.engine().collectiveTimeoutNs(),
            config.engine().exitTimeoutNs(),
            config.engine().partials());
    TcpTransport transport =
        new MeshJoin(listener, spec.secret(), spec.table(), spec.task(), spec.addresses(), options)
            .open();
    return Communicators.over(
        new Engine(
            spec.table(),
            spec.task(),
            transport,
            config.fold(),
            settings,
            metrics,
            ProcessPoison.PROCESS),
        spec.table(),
        spec.task());
  }
}
