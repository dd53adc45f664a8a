// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

import org.rankfold.view.View;

/** Bytes that arrived in a slot of the transport. Owned by the receiver until released. */
public interface Delivery {
  /**
   * Who sent it.
   *
   * @return a task
   */
  int sender();

  /**
   * What it is.
   *
   * @return the sender's tag
   */
  DeliveryTag tag();

  /**
   * The bytes, valid until {@link #release()}.
   *
   * @return a view of the slot
   */
  View view();

  /** Gives the slot back to the transport; idempotent. */
  void release();
}
