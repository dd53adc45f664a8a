// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.concurrent.atomic.AtomicBoolean;
import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.cudart.CUmod_st;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.BytePointer;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Compiled code loaded on a device. Kernels are looked up, and so fully loaded, before they are
 * first launched. Thread-safe.
 */
public final class CudaModule implements AutoCloseable {
  private final CudaDevice device;
  private final CUmod_st handle;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private CudaModule(CudaDevice device, CUmod_st handle) {
    this.device = device;
    this.handle = handle;
  }

  /**
   * Loads code.
   *
   * @param device where
   * @param cubin machine code for the device's architecture
   * @return the module, to be closed when none of its kernels runs or will
   * @throws CollectiveException UNSUPPORTED when the code is for another architecture;
   *     DEVICE_CALL_FAILED when it is damaged
   */
  public static CudaModule load(CudaDevice device, byte[] cubin) {
    device.makeCurrent();
    CUmod_st handle = new CUmod_st();
    try (BytePointer image = new BytePointer(cubin)) {
      CudaCheck.driver(cudart.cuModuleLoadData(handle, image), "cuModuleLoadData");
    }
    return new CudaModule(device, handle);
  }

  /**
   * Looks a kernel up.
   *
   * @param name as {@code extern "C"} code names it
   * @return the kernel; not to be launched after the module was closed
   * @throws CollectiveException DEVICE_CALL_FAILED when there is none; CLOSED when the module is
   */
  public CudaKernel kernel(String name) {
    if (isClosed.get()) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the module of %s is closed", name);
    }
    device.makeCurrent();
    CUfunc_st function = new CUfunc_st();
    CudaCheck.driver(
        cudart.cuModuleGetFunction(function, handle, name), "cuModuleGetFunction " + name);
    return new CudaKernel(device, function, name);
  }

  /** Unloads the code. Doing it again does nothing. */
  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true)) {
      device.makeCurrent();
      CudaCheck.driver(cudart.cuModuleUnload(handle), "cuModuleUnload");
    }
  }
}
