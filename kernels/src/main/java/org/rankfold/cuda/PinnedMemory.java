// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicBoolean;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;

/**
 * Memory of the host that kernels write to directly, zero at first. What a kernel wrote is there
 * once an event behind the kernel is done. Its owner closes it only when no kernel that uses it is
 * in flight.
 */
public final class PinnedMemory implements AutoCloseable {
  private final CudaDevice device;
  private final Pointer memory;
  private final ByteBuffer bytes;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private PinnedMemory(CudaDevice device, Pointer memory, int size) {
    this.device = device;
    this.memory = memory;
    this.bytes = memory.capacity(size).asByteBuffer().order(ByteOrder.nativeOrder());
  }

  /**
   * Allocates.
   *
   * @param device a device; others of the process may use the memory too
   * @param size bytes, at least 1
   * @return zeroed memory, to be closed
   * @throws org.rankfold.errors.CollectiveException TOO_LITTLE_MEMORY
   */
  public static PinnedMemory allocate(CudaDevice device, int size) {
    device.makeCurrent();
    Pointer pinned = new Pointer();
    CudaCheck.driver(
        cudart.cuMemHostAlloc(
            pinned, size, cudart.CU_MEMHOSTALLOC_PORTABLE | cudart.CU_MEMHOSTALLOC_DEVICEMAP),
        "cuMemHostAlloc of " + size + " bytes");
    PinnedMemory made = new PinnedMemory(device, pinned, size);
    for (int i = 0; i < size; i++) {
      made.bytes.put(i, (byte) 0);
    }
    return made;
  }

  /**
   * The address, the same for host and devices.
   *
   * @return the first byte's
   */
  public long address() {
    return memory.address();
  }

  /**
   * The bytes, in the order of the machine.
   *
   * @return the memory itself, not to be used after {@link #close}
   */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Frees the memory. Doing it again does nothing. */
  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true)) {
      device.makeCurrent();
      CudaCheck.driver(cudart.cuMemFreeHost(memory), "cuMemFreeHost");
    }
  }
}
