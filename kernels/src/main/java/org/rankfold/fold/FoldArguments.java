// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.InternalApi;
import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/** What every fold asks of its arguments before it touches an element. */
@InternalApi
public final class FoldArguments {
  private FoldArguments() {}

  /** What a fold on the host asks besides: that it can reach the elements. */
  static void checkOnHost(ReduceContract contract, View[] addends, View[] outs) {
    check(contract, addends, outs);
    refuseDevices(addends, "addend");
    refuseDevices(outs, "out");
  }

  /**
   * Checks counts and types against the contract.
   *
   * @param contract what fixes the bits
   * @param addends one view for each logical rank
   * @param outs where the result goes
   * @throws CollectiveException CONTRACT_MISMATCH, COUNT_MISMATCH or INVALID_ARGUMENT with the
   *     values that don't fit
   */
  public static void check(ReduceContract contract, View[] addends, View[] outs) {
    if (addends.length != contract.world()) {
      throw CollectiveException.usage(
          ErrorCode.CONTRACT_MISMATCH, "addends=%d != world=%d", addends.length, contract.world());
    }
    if (outs.length == 0) {
      throw CollectiveException.usage(ErrorCode.INVALID_ARGUMENT, "outs=0 < 1");
    }
    long count = addends[0].count();
    checkEach(addends, "addend", contract.dtype(), count);
    checkEach(outs, "out", contract.dtype(), count);
  }

  private static void refuseDevices(View[] views, String role) {
    for (int i = 0; i < views.length; i++) {
      if (views[i] instanceof DeviceView) {
        throw CollectiveException.usage(
            ErrorCode.UNSUPPORTED,
            "%s=%d %s: a fold on the host reaches no device's memory",
            role,
            i,
            views[i]);
      }
    }
  }

  private static void checkEach(View[] views, String role, DType dtype, long count) {
    for (int i = 0; i < views.length; i++) {
      if (views[i].dtype() != dtype) {
        throw CollectiveException.usage(
            ErrorCode.CONTRACT_MISMATCH,
            "%s=%d dtype=%s != contract dtype=%s",
            role,
            i,
            views[i].dtype().label(),
            dtype.label());
      }
      if (views[i].count() != count) {
        throw CollectiveException.usage(
            ErrorCode.COUNT_MISMATCH,
            "%s=%d count=%d != addend=0 count=%d",
            role,
            i,
            views[i].count(),
            count);
      }
    }
  }
}
