// SPDX-License-Identifier: Apache-2.0
package org.rankfold.contract;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Finds a constant by its label. */
final class Labels {
  private Labels() {}

  static <E> E find(E[] constants, Function<E, String> label, String wanted, String what) {
    for (E constant : constants) {
      if (label.apply(constant).equals(wanted)) {
        return constant;
      }
    }
    String known = Arrays.stream(constants).map(label).collect(Collectors.joining(", "));
    throw CollectiveException.usage(
        ErrorCode.INVALID_ARGUMENT, "%s=%s is none of: %s", what, wanted, known);
  }
}
