// SPDX-License-Identifier: Apache-2.0
package org.rankfold.view;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** The relations that stretches must keep. */
final class Slices {
  private Slices() {}

  static void check(View whole, long from, long count) {
    if (from < 0 || count < 0 || from > whole.count() - count) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "slice from=%d count=%d is not inside count=%d",
          from,
          count,
          whole.count());
    }
  }

  static void checkAlike(View source, View destination) {
    if (source.dtype() != destination.dtype() || source.count() != destination.count()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "source %s x %d != destination %s x %d",
          source.dtype().label(),
          source.count(),
          destination.dtype().label(),
          destination.count());
    }
  }

  static boolean intersect(long from, long count, long otherFrom, long otherCount) {
    return count > 0 && otherCount > 0 && from < otherFrom + otherCount && otherFrom < from + count;
  }
}
