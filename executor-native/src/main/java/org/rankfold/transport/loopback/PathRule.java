// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import org.rankfold.transport.PairPath;

/** Which pairs of a loopback group are mapped; any choice gives the same bits. */
public enum PathRule {
  /** All pairs read each other's memory in place: the fast way. */
  MAPPED("mapped"),
  /** All pairs send bytes through slots, as between machines. */
  STAGED("staged"),
  /** Pairs of tasks with an even sum are mapped, the others staged. */
  MIXED("mixed");

  private final String label;

  PathRule(String label) {
    this.label = label;
  }

  /**
   * The lower-case name used in settings and commands.
   *
   * @return for example {@code mapped}
   */
  public String label() {
    return label;
  }

  PairPath path(int task, int peer) {
    return switch (this) {
      case MAPPED -> PairPath.MAPPED;
      case STAGED -> PairPath.STAGED;
      case MIXED -> (task + peer) % 2 == 0 ? PairPath.MAPPED : PairPath.STAGED;
    };
  }
}
