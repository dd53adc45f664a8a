// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/** A kernel whose one parameter is a struct, passed by value. Thread-safe. */
public final class CudaKernel {
  private final CudaDevice device;
  private final CUfunc_st function;
  private final String name;

  CudaKernel(CudaDevice device, CUfunc_st function, String name) {
    this.device = device;
    this.function = function;
    this.name = name;
  }

  /**
   * Enqueues the kernel.
   *
   * @param gridX blocks in x, 1 to 2^31 - 1
   * @param gridY blocks in y, 1 to 65535
   * @param threads threads a block
   * @param arguments the struct's bytes, of the size the kernel declares; copied before return
   * @param stream a stream of the kernel's device
   * @throws org.rankfold.errors.CollectiveException when the device refuses the launch: nothing was
   *     enqueued. What goes wrong later shows at the next wait
   */
  public void launch(int gridX, int gridY, int threads, byte[] arguments, CudaStream stream) {
    device.makeCurrent();
    try (BytePointer struct = new BytePointer(arguments);
        PointerPointer<Pointer> parameters = new PointerPointer<>(1L)) {
      parameters.put(0, struct);
      CudaCheck.driver(
          cudart.cuLaunchKernel(
              function,
              gridX,
              gridY,
              1,
              threads,
              1,
              1,
              0,
              stream.handle(),
              parameters,
              (PointerPointer<?>) null),
          "cuLaunchKernel " + name + " grid=" + gridX + "x" + gridY + " block=" + threads);
    }
  }
}
