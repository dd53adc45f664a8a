// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.digest.BitDigest;
import org.rankfold.errors.CollectiveException;
import org.rankfold.fold.Folds;
import org.rankfold.view.View;

/** What a process without a device does: run by name in a class loader or process of its own. */
public final class HostOnly {
  private HostOnly() {}

  /** Prints what the host does, then what asking for a device brings. */
  public static void main(String[] args) {
    System.out.println(foldAndProbe());
    try {
      CudaDevice.of(0);
      System.out.println("devices=" + CudaProbe.process().devices());
    } catch (CollectiveException e) {
      System.out.println(e.code() + " " + e.getMessage());
    }
  }

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
