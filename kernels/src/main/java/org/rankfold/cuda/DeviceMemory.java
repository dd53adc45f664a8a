// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.concurrent.atomic.AtomicBoolean;
import org.bytedeco.cuda.global.cudart;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DeviceView;

/**
 * Memory of a device: allocated here and freed by {@link #close}, or borrowed from whoever owns the
 * address. Its owner closes it only when no work that uses it is in flight. Views of it are for any
 * thread; {@code close} is for one.
 */
public final class DeviceMemory implements AutoCloseable {
  private final CudaDevice device;
  private final long address;
  private final long bytes;
  private final boolean isOwned;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private DeviceMemory(CudaDevice device, long address, long bytes, boolean isOwned) {
    this.device = device;
    this.address = address;
    this.bytes = bytes;
    this.isOwned = isOwned;
  }

  /**
   * Allocates. What the memory holds is not defined.
   *
   * @param device whose memory
   * @param bytes how much, at least 0
   * @return memory at a multiple of 256, to be closed
   * @throws CollectiveException TOO_LITTLE_MEMORY when the device has not that much left;
   *     INVALID_ARGUMENT for a negative size
   */
  public static DeviceMemory allocate(CudaDevice device, long bytes) {
    checkBytes(bytes);
    device.makeCurrent();
    long[] address = new long[1];
    CudaCheck.driver(
        cudart.cuMemAlloc(address, Math.max(bytes, 1)), "cuMemAlloc of " + bytes + " bytes");
    return new DeviceMemory(device, address[0], bytes, true);
  }

  /**
   * Memory that somebody else owns and keeps alive, such as a framework's tensor.
   *
   * @param device whose memory
   * @param address its first byte
   * @param bytes how much
   * @return the memory; closing it frees nothing
   * @throws CollectiveException INVALID_ARGUMENT for a negative size
   */
  public static DeviceMemory borrow(CudaDevice device, long address, long bytes) {
    checkBytes(bytes);
    return new DeviceMemory(device, address, bytes, false);
  }

  /**
   * The size.
   *
   * @return bytes
   */
  public long bytes() {
    return bytes;
  }

  /**
   * All of it, as far as whole elements go.
   *
   * @param dtype what its bytes are
   * @return its view
   * @throws CollectiveException CLOSED when the memory was given up
   */
  public DeviceView view(DType dtype) {
    return view(dtype, 0, bytes / dtype.bytes());
  }

  /**
   * A part.
   *
   * @param dtype what its bytes are
   * @param byteOffset where it starts; multiples of 16 are fast
   * @param count elements
   * @return its view
   * @throws CollectiveException INVALID_ARGUMENT when the part reaches outside; CLOSED when the
   *     memory was given up
   */
  public DeviceView view(DType dtype, long byteOffset, long count) {
    if (isClosed.get()) {
      throw CollectiveException.usage(
          ErrorCode.CLOSED, "%d bytes of %s are closed", bytes, device.name());
    }
    if (byteOffset < 0
        || count < 0
        || byteOffset > bytes
        || count > (bytes - byteOffset) / dtype.bytes()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "byteOffset=%d count=%d (%s) is not inside bytes=%d",
          byteOffset,
          count,
          dtype.label(),
          bytes);
    }
    return DeviceView.of(device, address + byteOffset, dtype, count);
  }

  /**
   * Enqueues setting every byte.
   *
   * @param value the byte
   * @param stream a stream of the device
   */
  public void fill(byte value, CudaStream stream) {
    if (bytes > 0) {
      stream.fill(address, value, bytes);
    }
  }

  /** Frees what was allocated here. Doing it again does nothing. */
  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true) && isOwned) {
      device.makeCurrent();
      CudaCheck.driver(cudart.cuMemFree(address), "cuMemFree");
    }
  }

  private static void checkBytes(long bytes) {
    if (bytes < 0) {
      throw CollectiveException.usage(ErrorCode.INVALID_ARGUMENT, "bytes=%d < 0", bytes);
    }
  }
}
