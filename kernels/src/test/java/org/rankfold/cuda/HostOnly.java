// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.BitDigest;
import org.rankfold.fold.Folds;
import org.rankfold.view.View;

/** What a process without JavaCPP does: run by name in a class loader that lacks it. */
public final class HostOnly {
  private HostOnly() {}

  /** The sum of 1 and 2, and the probe's reason. */
  public static String foldAndProbe() {
    float[] out = new float[1];
    View[] addends = {View.of(new float[] {1}), View.of(new float[] {2})};
    Folds.fastest()
        .fold(
            new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 2),
            addends,
            new View[] {View.of(out)});
    BitDigest.of(View.of(out));
    return out[0] + " " + CudaProbe.process().reason();
  }
}
