// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.nio.file.Path;

/**
 * How a group over shared memory moves bytes; the same for all its tasks, the folder apart.
 *
 * @param folder where this task makes its segments
 * @param chunkBytes the largest stretch a slot holds; an element is never split
 * @param mapsEvenPairs whether pairs of tasks with an even sum use each other's arenas in place
 * @param mapsOddPairs whether the others do
 * @param peerTimeoutNs how long a peer's process may give no sign of life
 */
public record SharedMemoryOptions(
    Path folder, int chunkBytes, boolean mapsEvenPairs, boolean mapsOddPairs, long peerTimeoutNs) {
  /**
   * Checked options.
   *
   * @param folder not null
   * @param chunkBytes at least 1
   * @param mapsEvenPairs whether pairs with an even sum are mapped
   * @param mapsOddPairs whether pairs with an odd sum are mapped
   * @param peerTimeoutNs above 0
   */
  public SharedMemoryOptions {
    if (chunkBytes < 1) {
      throw new IllegalArgumentException("chunkBytes=" + chunkBytes + " < 1");
    }
    if (peerTimeoutNs < 1) {
      throw new IllegalArgumentException("peerTimeoutNs=" + peerTimeoutNs + " < 1");
    }
  }

  boolean maps(int task, int peer) {
    return (task + peer) % 2 == 0 ? mapsEvenPairs : mapsOddPairs;
  }

  boolean mapsAll() {
    return mapsEvenPairs && mapsOddPairs;
  }

  boolean mapsNone() {
    return !mapsEvenPairs && !mapsOddPairs;
  }

  int slotBytes() {
    return Math.max(Long.BYTES, chunkBytes);
  }
}
