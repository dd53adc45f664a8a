// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

/**
 * What a rank leaves out, and how long blocks dawdle between a call's phases; for kernels compiled
 * with RF_FAULTS, which only tests are.
 *
 * @param kind what is left out
 * @param rank by whom
 * @param peer towards whom, where that matters
 * @param seed of the delays; 0 for none
 * @param delayNs the longest delay; of a late rank, the delay
 */
record PeerFault(Kind kind, int rank, int peer, long seed, int delayNs) {
  static final PeerFault NONE = new PeerFault(Kind.NONE, 0, 0, 0, 0);

  /** {@code Fault} of peer.cu, by its numbers. */
  enum Kind {
    NONE(0),
    NO_START_WORD(1),
    NO_END_WORD(2),
    OTHER_HASH(3),
    NO_PUSH(4),
    LATE(5),
    DIES(6),
    /** Never sees the start word of {@code peer}. */
    BLIND(7),
    /** The same, and that peer dies in its kernel. */
    BLIND_TO_DEAD(8);

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }
  }

  static PeerFault of(Kind kind, int rank) {
    return new PeerFault(kind, rank, 0, 0, 0);
  }
}
