// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.Arrays;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.DeviceMemory;

/**
 * A mistake for a sanitizer to find, so that its finding nothing elsewhere means something: a call
 * of two ranks whose outputs end before the call does.
 */
public final class PeerSanitizerControl {
  private PeerSanitizerControl() {}

  /** Writes past an allocation on the first device. */
  public static void main(String[] args) {
    CudaDevice device = CudaDevice.of(0);
    ReduceContract contract = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 2);
    try (PeerKernels kernels = PeerKernels.on(device);
        Ranks group = new Ranks(kernels, 2, 1 << 16);
        DeviceMemory addends = DeviceMemory.allocate(device, 8192);
        DeviceMemory outs = DeviceMemory.allocate(device, 1000)) {
      kernels.prepare(contract);
      addends.fill((byte) 0, group.stream);
      long[] sources = new long[2];
      long[] targets = new long[2];
      Arrays.fill(sources, addends.view(DType.F32).address());
      Arrays.fill(targets, outs.view(DType.F32).address());
      group.cohort.enqueue(
          PeerCall.allReduce(contract, 1000), PeerPath.MAPPED, new PeerOperands(sources, targets));
      group.await();
      System.out.println("the call itself noticed nothing");
    }
  }
}
