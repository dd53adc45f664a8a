// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Ranges of settings and arrays, said with their values. */
final class Checks {
  private Checks() {}

  static void atLeast(String name, long value, long least) {
    if (value < least) {
      throw CollectiveException.usage(ErrorCode.INVALID_ARGUMENT, "%s=%d < %d", name, value, least);
    }
  }

  static void notNegative(String name, float value) {
    if (!(value >= 0.0f) || Float.isInfinite(value)) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "%s=%s is not a finite number of at least 0", name, value);
    }
  }

  static void share(String name, float value) {
    if (!(value >= 0.0f && value < 1.0f)) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "%s=%s is not in [0, 1)", name, value);
    }
  }

  static void lengths(float[] parameters, float[] gradient, int parameterCount) {
    if (parameters.length != parameterCount || gradient.length != parameterCount) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "parameters=%d and gradient=%d are not both %d floats long",
          parameters.length,
          gradient.length,
          parameterCount);
    }
  }
}
