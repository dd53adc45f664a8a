// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.cudapeer;

import org.rankfold.InternalApi;

/**
 * How copies come about, for proving that it never changes a bit.
 *
 * @param order the order in which a task enqueues the copies of one movement
 * @param seed of a shuffled order
 * @param droppedCopy which copy of a task is left out, counted from 1; 0 for none
 */
@InternalApi
public record CopyOptions(Order order, long seed, long droppedCopy) {
  /** Orders of copies. */
  public enum Order {
    /** By peer, as they were asked for. */
    ASCENDING,
    /** The other way round. */
    DESCENDING,
    /** Anyhow. */
    SHUFFLED
  }

  /** As they come, and all of them. */
  public static final CopyOptions PLAIN = new CopyOptions(Order.ASCENDING, 0, 0);
}
