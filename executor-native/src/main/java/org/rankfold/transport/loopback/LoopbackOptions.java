// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.loopback;

import java.util.Objects;

/**
 * How a loopback group moves bytes; the same for all its tasks.
 *
 * @param pathRule which pairs are mapped
 * @param deliveryOrder in which order staged addends arrive
 * @param chunkBytes the largest stretch a slot holds; an element is never split
 * @param fault what goes wrong on purpose
 */
public record LoopbackOptions(
    PathRule pathRule, DeliveryOrder deliveryOrder, int chunkBytes, DeliveryFault fault) {
  /**
   * Checked options.
   *
   * @param pathRule not null
   * @param deliveryOrder not null
   * @param chunkBytes at least 1
   * @param fault not null
   */
  public LoopbackOptions {
    Objects.requireNonNull(pathRule, "pathRule");
    Objects.requireNonNull(deliveryOrder, "deliveryOrder");
    Objects.requireNonNull(fault, "fault");
    if (chunkBytes < 1) {
      throw new IllegalArgumentException("chunkBytes=" + chunkBytes + " < 1");
    }
  }

  /**
   * All pairs mapped, nothing goes wrong.
   *
   * @param chunkBytes the stretch in which work is done between two looks at the latch
   * @return the options
   */
  public static LoopbackOptions mapped(int chunkBytes) {
    return new LoopbackOptions(
        PathRule.MAPPED, DeliveryOrder.ARRIVAL, chunkBytes, DeliveryFault.NONE);
  }
}
