// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import org.bytedeco.cuda.cudart.CUipcMemHandle_v1;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.SizeTPointer;
import org.rankfold.view.DeviceView;

/**
 * Memory that one process allocated and others of the host map. Only whole allocations are shared;
 * their owner frees them after every process has closed its mapping.
 */
public final class CudaIpc {
  /** The size of a handle. */
  public static final int HANDLE_BYTES = 64;

  private CudaIpc() {}

  /**
   * The allocation that an address lies in, whoever made it.
   *
   * @param device whose memory it is
   * @param address inside it
   * @return its first byte's address and its size
   * @throws org.rankfold.errors.CollectiveException DEVICE_CALL_FAILED when no allocation of the
   *     process holds the address
   */
  public static long[] allocation(CudaDevice device, long address) {
    device.makeCurrent();
    long[] base = new long[1];
    try (SizeTPointer bytes = new SizeTPointer(1)) {
      CudaCheck.driver(cudart.cuMemGetAddressRange(base, bytes, address), "cuMemGetAddressRange");
      return new long[] {base[0], bytes.get()};
    }
  }

  /**
   * What another process maps an allocation by.
   *
   * @param whole all of an allocation of {@link DeviceMemory#allocate}
   * @return {@link #HANDLE_BYTES} bytes
   * @throws org.rankfold.errors.CollectiveException DEVICE_CALL_FAILED where processes can share
   *     nothing, as in some containers
   */
  public static byte[] handle(DeviceView whole) {
    ((CudaDevice) whole.port()).makeCurrent();
    try (CUipcMemHandle_v1 ipc = new CUipcMemHandle_v1()) {
      CudaCheck.driver(cudart.cuIpcGetMemHandle(ipc, whole.address()), "cuIpcGetMemHandle");
      byte[] bytes = new byte[HANDLE_BYTES];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = ipc.reserved(i);
      }
      return bytes;
    }
  }

  /**
   * Maps another process's allocation. A process maps an allocation once, and not its own.
   *
   * @param device the device that holds it, in this process
   * @param handle what the owner's {@link #handle} gave
   * @return the address of its first byte in this process
   * @throws org.rankfold.errors.CollectiveException DEVICE_CALL_FAILED where processes can share
   *     nothing
   */
  public static long open(CudaDevice device, byte[] handle) {
    device.makeCurrent();
    long[] address = new long[1];
    try (CUipcMemHandle_v1 ipc = new CUipcMemHandle_v1()) {
      for (int i = 0; i < handle.length; i++) {
        ipc.reserved(i, handle[i]);
      }
      CudaCheck.driver(
          cudart.cuIpcOpenMemHandle(address, ipc, cudart.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
          "cuIpcOpenMemHandle");
    }
    return address[0];
  }

  /**
   * Unmaps; no work that uses the mapping may be in flight.
   *
   * @param device as in {@link #open}
   * @param address what {@link #open} gave
   */
  public static void close(CudaDevice device, long address) {
    device.makeCurrent();
    CudaCheck.driver(cudart.cuIpcCloseMemHandle(address), "cuIpcCloseMemHandle");
  }
}
