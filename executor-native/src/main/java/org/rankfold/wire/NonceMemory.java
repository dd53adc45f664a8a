// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import java.util.LinkedHashSet;
import java.util.Set;
import org.rankfold.InternalApi;

/**
 * The last nonces seen, so that a replay is refused by name. Forgetting one costs the name only: a
 * replayed greeting meets a fresh challenge anyway. Thread-safe.
 */
@InternalApi
public final class NonceMemory {
  private final int most;
  private final Set<String> seen = new LinkedHashSet<>();

  /**
   * A memory that has seen nothing.
   *
   * @param most how many nonces it remembers
   */
  public NonceMemory(int most) {
    this.most = most;
  }

  /**
   * Remembers a nonce, and forgets the oldest when there are too many.
   *
   * @param nonce any
   * @return false when it was seen before
   */
  public synchronized boolean add(String nonce) {
    if (!seen.add(nonce)) {
      return false;
    }
    if (seen.size() > most) {
      seen.remove(seen.iterator().next());
    }
    return true;
  }

  /**
   * Whether a nonce is remembered.
   *
   * @param nonce any
   * @return true when it was added and not forgotten
   */
  public synchronized boolean contains(String nonce) {
    return seen.contains(nonce);
  }
}
