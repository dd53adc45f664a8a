// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

/** What a call does; {@code Kind} of peer.cu, by its numbers. */
public enum PeerKind {
  /** Every rank gets the whole result. */
  ALL_REDUCE(0),
  /** Every rank gets its logical ranks' parts of the result. */
  REDUCE_SCATTER(1),
  /** Every rank gets all logical ranks' rows; nothing is added. */
  ALL_GATHER(2),
  /** Every rank gets what one logical rank has; nothing is added. */
  BROADCAST(3);

  private final int number;

  PeerKind(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  boolean isMovement() {
    return this == ALL_GATHER || this == BROADCAST;
  }

  String label() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
