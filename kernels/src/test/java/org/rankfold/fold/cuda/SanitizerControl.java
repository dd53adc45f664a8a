// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.util.Arrays;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * Two mistakes for a sanitizer to find, so that its finding nothing elsewhere means something: a
 * read past an allocation, or of memory that nobody wrote.
 *
 * <p>Arguments: {@code memcheck} or {@code initcheck}, which of them to make.
 */
public final class SanitizerControl {
  private SanitizerControl() {}

  /** Folds wrongly on the first device. */
  public static void main(String[] args) {
    CudaDevice device = CudaDevice.of(0);
    ReduceContract contract = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 1);
    int count = 1000;
    boolean isPastTheEnd = args[0].equals("memcheck");
    try (CudaFold fold = CudaFold.on(device);
        DeviceMemory addend = DeviceMemory.allocate(device, isPastTheEnd ? 2000 : 4000);
        DeviceMemory out = DeviceMemory.allocate(device, 4000)) {
      float[] ones = new float[500];
      Arrays.fill(ones, 1);
      if (isPastTheEnd) {
        View.of(ones).copyTo(addend.view(DType.F32));
      }
      long address = addend.view(DType.F32).address();
      DeviceView claimed = DeviceMemory.borrow(device, address, 4000).view(DType.F32, 0, count);
      fold.fold(contract, new View[] {claimed}, new View[] {out.view(DType.F32)});
      System.out.println("the fold itself noticed nothing");
    }
  }
}
