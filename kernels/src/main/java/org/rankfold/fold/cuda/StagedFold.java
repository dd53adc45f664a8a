// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * Folds views of which some lie on the host: those are copied to device scratch, a piece of all of
 * them at a time, and the result back. The scratch is kept, and bounded. One fold at a time.
 */
final class StagedFold implements AutoCloseable {
  private static final long SCRATCH_BYTES = 64L << 20;
  private static final int SLOT_ALIGNMENT_BYTES = 256;

  private final CudaFold fold;
  private final CudaDevice device;
  private DeviceMemory scratch;

  StagedFold(CudaFold fold, CudaDevice device) {
    this.fold = fold;
    this.device = device;
  }

  synchronized void fold(ReduceContract contract, View[] addends, View[] outs) {
    if (scratch == null) {
      scratch = DeviceMemory.allocate(device, SCRATCH_BYTES);
    }
    // A slot for each addend, and one for the result.
    long slotBytes =
        SCRATCH_BYTES / (addends.length + 1) / SLOT_ALIGNMENT_BYTES * SLOT_ALIGNMENT_BYTES;
    long step = slotBytes / contract.dtype().bytes();
    long count = addends[0].count();
    for (long from = 0; from < count; from += step) {
      foldPiece(contract, addends, outs, from, Math.min(step, count - from), slotBytes);
    }
  }

  private void foldPiece(
      ReduceContract contract, View[] addends, View[] outs, long from, long n, long slotBytes) {
    DType dtype = contract.dtype();
    DeviceView[] operands = new DeviceView[addends.length];
    for (int r = 0; r < addends.length; r++) {
      View piece = addends[r].slice(from, n);
      operands[r] =
          piece instanceof DeviceView there ? there : scratch.view(dtype, r * slotBytes, n);
      if (!(piece instanceof DeviceView)) {
        piece.copyTo(operands[r]);
      }
    }
    DeviceView result = scratch.view(dtype, addends.length * slotBytes, n);
    fold.foldAndWait(contract, operands, new DeviceView[] {result});
    for (View out : outs) {
      result.copyTo(out.slice(from, n));
    }
  }

  @Override
  public synchronized void close() {
    if (scratch != null) {
      scratch.close();
      scratch = null;
    }
  }
}
