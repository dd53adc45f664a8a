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
    launch(gridX, gridY, threads, arguments, stream, false);
  }

  /**
   * Enqueues the kernel so that all of its blocks run at the same time: what blocks that wait for
   * one another need.
   *
   * @param gridX blocks in x
   * @param gridY blocks in y
   * @param threads threads a block
   * @param arguments the struct's bytes, as in {@link #launch}
   * @param stream a stream of the kernel's device
   * @throws org.rankfold.errors.CollectiveException DEVICE_CALL_FAILED when the device cannot hold
   *     so many at once: nothing was enqueued
   */
  public void launchTogether(
      int gridX, int gridY, int threads, byte[] arguments, CudaStream stream) {
    launch(gridX, gridY, threads, arguments, stream, true);
  }

  /**
   * How many blocks the device holds at the same time when nothing else runs on it. Asking loads
   * the kernel's code, if the driver has put that off: a kernel that waits for another must have
   * been loaded before either is launched.
   *
   * @param threads threads a block
   * @return blocks on all multiprocessors
   */
  public int residentBlocks(int threads) {
    device.makeCurrent();
    CudaCheck.driver(cudart.cuFuncLoad(function), "cuFuncLoad " + name);
    int[] each = new int[1];
    CudaCheck.driver(
        cudart.cuOccupancyMaxActiveBlocksPerMultiprocessor(each, function, threads, 0),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor " + name);
    return each[0] * device.info().multiprocessors();
  }

  private void launch(
      int gridX, int gridY, int threads, byte[] arguments, CudaStream stream, boolean isTogether) {
    device.makeCurrent();
    String call = isTogether ? "cuLaunchCooperativeKernel " : "cuLaunchKernel ";
    try (BytePointer struct = new BytePointer(arguments);
        PointerPointer<Pointer> parameters = new PointerPointer<>(1L)) {
      parameters.put(0, struct);
      int code =
          isTogether
              ? cudart.cuLaunchCooperativeKernel(
                  function, gridX, gridY, 1, threads, 1, 1, 0, stream.handle(), parameters)
              : cudart.cuLaunchKernel(
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
                  (PointerPointer<?>) null);
      CudaCheck.driver(code, call + name + " grid=" + gridX + "x" + gridY + " block=" + threads);
    }
  }
}
