// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

/** When a peer was last heard and spoken to. Time is an argument; no thread, no clock. */
final class PeerSilence {
  private static final int SIGNS_A_TIMEOUT = 4;

  private final long timeoutNs;
  private long heardNs;
  private long spokenNs;

  PeerSilence(long timeoutNs, long nowNs) {
    this.timeoutNs = timeoutNs;
    this.heardNs = nowNs;
    this.spokenNs = nowNs;
  }

  void onHeard(long nowNs) {
    heardNs = nowNs;
  }

  void onSpoken(long nowNs) {
    spokenNs = nowNs;
  }

  /** Whether the peer must have failed: it says something four times in that time. */
  boolean isTooLong(long nowNs) {
    return nowNs - heardNs >= timeoutNs;
  }

  /** Whether this side has to say something. */
  boolean isSignDue(long nowNs) {
    return nowNs - spokenNs >= timeoutNs / SIGNS_A_TIMEOUT;
  }

  double silentSeconds(long nowNs) {
    return (nowNs - heardNs) / 1e9;
  }
}
