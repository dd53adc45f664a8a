// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import org.bytedeco.cuda.global.nccl;
import org.bytedeco.cuda.nccl.ncclConfig_t;

/**
 * A communicator's settings as NCCL's own initialiser has them, which the bindings lack: whatever
 * is not said is a mark for undefined, never 0. A library older than the bindings reads as much of
 * it as it knows, by the size and version that it carries.
 */
final class NcclConfig {
  private static final int UNDEFINED = Integer.MIN_VALUE;

  private NcclConfig() {}

  /** All by default, but calls that return at once. To be closed. */
  static ncclConfig_t nonBlocking() {
    ncclConfig_t made = new ncclConfig_t();
    return made.size(made.sizeof())
        .magic(nccl.NCCL_API_MAGIC)
        .version(nccl.NCCL_VERSION_CODE)
        .blocking(0)
        .cgaClusterSize(UNDEFINED)
        .minCTAs(UNDEFINED)
        .maxCTAs(UNDEFINED)
        .netName(null)
        .splitShare(UNDEFINED)
        .trafficClass(UNDEFINED)
        .commName(null)
        .collnetEnable(UNDEFINED)
        .CTAPolicy(UNDEFINED)
        .shrinkShare(UNDEFINED)
        .nvlsCTAs(UNDEFINED)
        .nChannelsPerNetPeer(UNDEFINED)
        .nvlinkCentricSched(UNDEFINED)
        .graphUsageMode(UNDEFINED)
        .numRmaCtx(UNDEFINED)
        .maxP2pPeers(UNDEFINED)
        .graphStreamOrdering(UNDEFINED);
  }
}
