// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.concurrent.TimeUnit;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * How long a kernel waits for its peers. The two waits differ: before it has entered a rank may
 * wait long, since {@link PeerRank#giveUp} ends that; inside, its peers have only to finish.
 *
 * @param startNs for a word of the start or pushed barrier
 * @param endNs for a word of the end barrier
 */
public record PeerTimeouts(long startNs, long endNs) {
  /**
   * Checked bounds.
   *
   * @param startNs above 0
   * @param endNs at least a millisecond, since milliseconds are what the device counts; at most
   *     {@code Integer.MAX_VALUE} of them
   * @throws CollectiveException INVALID_ARGUMENT
   */
  public PeerTimeouts {
    long endMillis = TimeUnit.NANOSECONDS.toMillis(endNs);
    if (startNs <= 0 || endMillis < 1 || endMillis > Integer.MAX_VALUE) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "startNs=%d endNs=%d", startNs, endNs);
    }
  }

  /** The same bound for both. */
  static PeerTimeouts of(long timeoutNs) {
    return new PeerTimeouts(timeoutNs, timeoutNs);
  }

  int endMillis() {
    return (int) TimeUnit.NANOSECONDS.toMillis(endNs);
  }
}
