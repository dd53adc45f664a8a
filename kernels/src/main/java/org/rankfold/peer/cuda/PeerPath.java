// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

/** The way that a call's bytes take; it decides time, never bits. */
public enum PeerPath {
  /** Every rank pushes its operands to every peer, and folds all of them from its own memory. */
  ONE_SHOT,
  /** Every rank folds its shard straight from its peers' memory and stores it to all of them. */
  MAPPED,
  /** Bytes travel as messages of a transport; no kernel of this room has a part in it. */
  STAGED
}
