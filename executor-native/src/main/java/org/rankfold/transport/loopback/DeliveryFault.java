// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import org.rankfold.transport.DeliveryTag;

/** Decides what a loopback transport does wrong with a delivery: the seam of negative tests. */
@FunctionalInterface
public interface DeliveryFault {
  /** What happens to a delivery. */
  enum Action {
    /** It arrives as sent. */
    NONE,
    /** It never arrives. */
    DROP,
    /** It arrives twice. */
    REPEAT,
    /** One bit of it is flipped. */
    CORRUPT,
    /** It changes places with the next delivery of the pair in the same chunk. */
    SWAP
  }

  /** Every delivery arrives as sent. */
  DeliveryFault NONE = (sender, receiver, tag) -> Action.NONE;

  /**
   * What happens to a delivery.
   *
   * @param sender the sending task
   * @param receiver the receiving task
   * @param tag what is delivered
   * @return the action
   */
  Action onDelivery(int sender, int receiver, DeliveryTag tag);
}
