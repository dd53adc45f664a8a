// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.List;
import org.rankfold.cuda.CudaStream;
import org.rankfold.errors.CollectiveException;

/**
 * All ranks of a group on one device, every call one launch that holds the blocks of all of them at
 * once: the only way that several ranks of one device may wait for one another. For tests and for
 * seeing on one device what many will do. One thread at a time.
 */
public final class PeerCohort {
  private final PeerLauncher launcher;

  private PeerCohort(PeerLauncher launcher) {
    this.launcher = launcher;
  }

  /**
   * A cohort.
   *
   * @param kernels the device's, with what calls need prepared
   * @param stream a stream of that device, the cohort's alone
   * @param own every rank's words, staging and report, in rank order; 1 to 8
   * @param timeouts how long a rank waits for its peers
   * @return the cohort
   * @throws CollectiveException INVALID_WORLD or INVALID_ARGUMENT for impossible seats
   */
  public static PeerCohort of(
      PeerKernels kernels, CudaStream stream, List<PeerMemory> own, PeerTimeouts timeouts) {
    return new PeerCohort(PeerLauncher.ofAll(kernels, stream, own, timeouts));
  }

  /**
   * Enqueues a call of all ranks and returns.
   *
   * @param call what it is
   * @param path ONE_SHOT for all-reduces that fit a staging slot, else MAPPED
   * @param operands all ranks' memory
   * @throws CollectiveException as {@link PeerRank#enqueue} does; UNSUPPORTED when the device
   *     cannot hold a block of every rank at once
   */
  public void enqueue(PeerCall call, PeerPath path, PeerOperands operands) {
    launcher.enqueue(call, path, operands);
  }

  /**
   * Looks, at once, whether some rank refused a call that is done.
   *
   * @throws CollectiveException the lowest such rank's, as {@link PeerRank#check} says
   */
  public void check() {
    launcher.throwRefusal();
  }

  /** What a rank reported, or null. */
  CollectiveException refusal(int rank) {
    return launcher.refusal(rank);
  }

  PeerCohort withFault(PeerFault fault) {
    launcher.fault = fault;
    return this;
  }

  PeerCohort withMostBlocks(int blocks) {
    launcher.mostBlocks = blocks;
    return this;
  }
}
