// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.InternalApi;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Where folds come from. All of them give the same bits; they differ in speed only. */
@InternalApi
public final class Folds {
  private Folds() {}

  /**
   * The fastest fold of this JVM.
   *
   * @return a fold that any number of threads may use
   */
  public static Fold fastest() {
    return named("lane-plain");
  }

  /**
   * A fold by name.
   *
   * @param name {@code scalar}, {@code lane-plain}
   * @return a fold that any number of threads may use
   * @throws CollectiveException INVALID_ARGUMENT for another name
   */
  public static Fold named(String name) {
    return switch (name) {
      case "scalar" -> new ScalarFold();
      case "lane-plain" -> new LaneFold(PlainHalfLoops.f16(), PlainHalfLoops.bf16());
      default ->
          throw CollectiveException.usage(
              ErrorCode.INVALID_ARGUMENT, "fold=%s is none of: scalar, lane-plain", name);
    };
  }
}
