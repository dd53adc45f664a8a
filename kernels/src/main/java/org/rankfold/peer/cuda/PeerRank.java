// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.List;
import org.rankfold.cuda.CudaStream;

/**
 * One rank's launches, one kernel a call, each on the rank's own device and stream. Every rank of a
 * group enqueues the same calls in the same order; a kernel waits on the device, a bounded time,
 * until its peers' kernels of the same call have come. All calls of a rank go to one stream: the
 * staging sets alternate with the calls. One thread at a time.
 *
 * <p>Memory that a call names stays alive and unchanged until the call is done on this rank's
 * stream, and then no peer is inside it, unless {@link #check} says otherwise. After a refusal
 * every later call is refused: the group is lost.
 */
public final class PeerRank {
  private final PeerLauncher launcher;
  private final PeerMemory own;

  private PeerRank(PeerLauncher launcher, PeerMemory own) {
    this.launcher = launcher;
    this.own = own;
  }

  /**
   * A rank that has its place.
   *
   * @param kernels the device's, with what calls need prepared
   * @param stream a stream of that device, this rank's alone
   * @param own the rank's words, staging and report
   * @param seats every rank's, with addresses as this process sees them, in rank order; 1 to 8
   * @param rank which of them this is
   * @param timeouts how long a kernel waits for its peers
   * @return the rank
   * @throws org.rankfold.errors.CollectiveException UNSUPPORTED when two ranks share a device;
   *     INVALID_WORLD or INVALID_ARGUMENT for impossible seats
   */
  public static PeerRank of(
      PeerKernels kernels,
      CudaStream stream,
      PeerMemory own,
      List<PeerSeat> seats,
      int rank,
      PeerTimeouts timeouts) {
    return new PeerRank(PeerLauncher.ofRank(kernels, stream, seats, own, rank, timeouts), own);
  }

  /**
   * Enqueues a call and returns.
   *
   * @param call alike on all ranks
   * @param path ONE_SHOT for all-reduces that fit a staging slot, else MAPPED; alike on all ranks
   * @param operands the call's memory
   * @throws org.rankfold.errors.CollectiveException UNSUPPORTED when the kernel was not prepared or
   *     the path is none of a kernel's; TOO_LITTLE_MEMORY when a one-shot operand exceeds its slot;
   *     INVALID_ARGUMENT or INVALID_WORLD; what {@link #check} says when an earlier call was
   *     refused. Nothing was enqueued then
   */
  public void enqueue(PeerCall call, PeerPath path, PeerOperands operands) {
    launcher.enqueue(call, path, operands);
  }

  /**
   * Looks, at once, whether a call that is done was refused on the device.
   *
   * @throws org.rankfold.errors.CollectiveException TIMEOUT, PEER_FAILED or PROTOCOL; or
   *     MEMORY_STILL_BORROWED when a peer may still use this rank's memory. The message says the
   *     phase and which rank was missing, the exception what became of the output
   */
  public void check() {
    launcher.throwRefusal();
  }

  /**
   * Makes this rank's kernel, now or later, leave a start or pushed barrier without waiting on, and
   * every later call return at once: for when the host knows that a peer will not come. It is told
   * on a stream of its own, and takes effect within microseconds; a kernel that has entered
   * finishes, or expires at its end barrier. Any thread.
   */
  public void giveUp() {
    own.refuse();
  }
}
