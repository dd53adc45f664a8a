// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import org.rankfold.InternalApi;
import org.rankfold.peer.cuda.PathTable;
import org.rankfold.peer.cuda.PeerTimeouts;

/**
 * How a group uses its devices' reach.
 *
 * @param most the arm that is taken where devices allow it
 * @param paths which path a payload takes, as {@link PathTable#parse} reads it, or {@code auto} for
 *     the table of the topology
 * @param timeouts of kernels that wait on the device
 */
@InternalApi
public record PeerOptions(PeerArm most, String paths, PeerTimeouts timeouts) {
  /** The table for an arm and this many tasks. */
  PathTable table(PeerArm arm, int tasks) {
    if (!paths.equals("auto")) {
      return PathTable.parse(paths);
    }
    return arm == PeerArm.SPIN ? PathTable.ofNvlink(tasks) : PathTable.ofEvents();
  }
}
