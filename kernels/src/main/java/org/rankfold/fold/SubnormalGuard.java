// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.InternalApi;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Refuses a thread on which subnormal numbers count as zero. Native code sets that state for a
 * whole thread, often unasked, as when a library built with {@code -ffast-math} is loaded.
 */
@InternalApi
public final class SubnormalGuard {
  /** Not final and volatile: the sum below has to be made by this thread, now, in its mode. */
  private static volatile float smallest = Float.MIN_VALUE;

  private SubnormalGuard() {}

  /**
   * Adds two subnormal numbers on the calling thread; a few nanoseconds.
   *
   * @throws CollectiveException FLUSH_TO_ZERO when the sum is not their sum
   */
  public static void check() {
    // Compared as integers: on such a thread 2^-148 == 0 may hold.
    int sum = Float.floatToRawIntBits(smallest + smallest);
    if (sum != 2) {
      throw CollectiveException.usage(
          ErrorCode.FLUSH_TO_ZERO,
          "thread=%s: 2^-149 + 2^-149 has bits %08x != 00000002: the thread flushes subnormal"
              + " numbers to zero, as native code built with -ffast-math sets it when loaded; load"
              + " such libraries on another thread or restore MXCSR",
          Thread.currentThread().getName(),
          sum);
    }
  }
}
