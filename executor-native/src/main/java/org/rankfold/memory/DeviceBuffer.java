// SPDX-License-Identifier: Apache-2.0
package org.rankfold.memory;

import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DeviceView;

/**
 * A stretch of a device's memory for one logical rank's elements: allocated here, or borrowed from
 * whoever owns it, such as a tensor of a framework in this process.
 *
 * <p>A collective over it uses streams of its own. It reads what is there when it is called, so
 * work on the memory must be done by then: wait for its stream or event first, or call in the order
 * of that stream ({@code Communicator.onStream}). When the call returns, or its handle is done, the
 * memory may be used by any stream.
 */
public final class DeviceBuffer implements AutoCloseable {
  private final DType dtype;
  private final long count;
  private final DeviceMemory memory;
  private final Runnable release;
  private volatile boolean closed;

  private DeviceBuffer(DType dtype, long count, DeviceMemory memory, Runnable release) {
    this.dtype = dtype;
    this.count = count;
    this.memory = memory;
    this.release = release;
  }

  /**
   * New memory, its contents undefined.
   *
   * @param device the device's ordinal in this process
   * @param dtype the element type
   * @param count elements, at least 0
   * @return the buffer, owned by the caller
   * @throws CollectiveException UNSUPPORTED without a usable device, INVALID_ARGUMENT for another
   *     ordinal or count, TOO_LITTLE_MEMORY
   */
  public static DeviceBuffer allocate(int device, DType dtype, long count) {
    DeviceMemory memory = DeviceMemory.allocate(CudaDevice.of(device), bytes(dtype, count));
    return new DeviceBuffer(dtype, count, memory, memory::close);
  }

  /**
   * Somebody else's memory, which must outlive every call over it.
   *
   * @param device the ordinal in this process of the device that holds it
   * @param address the first element's
   * @param dtype the element type
   * @param count elements, at least 0
   * @return the buffer; closing it leaves the memory alone
   * @throws CollectiveException UNSUPPORTED without a usable device, INVALID_ARGUMENT for another
   *     ordinal, address or count
   */
  public static DeviceBuffer borrow(int device, long address, DType dtype, long count) {
    DeviceMemory memory = DeviceMemory.borrow(CudaDevice.of(device), address, bytes(dtype, count));
    return new DeviceBuffer(dtype, count, memory, memory::close);
  }

  /**
   * Memory that whoever lends it keeps and takes back; for communicators.
   *
   * @param memory at least as much as is asked for
   * @param dtype the element type
   * @param count elements, at least 0
   * @param release takes the memory back, called once
   * @return the buffer
   */
  public static DeviceBuffer lend(DeviceMemory memory, DType dtype, long count, Runnable release) {
    return new DeviceBuffer(dtype, count, memory, release);
  }

  /**
   * The size of a buffer.
   *
   * @param dtype the element type
   * @param count elements
   * @return bytes
   * @throws CollectiveException INVALID_ARGUMENT for a count that is none
   */
  public static long bytes(DType dtype, long count) {
    if (count < 0 || count > Long.MAX_VALUE / dtype.bytes()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "device buffer of %s x %d", dtype.label(), count);
    }
    return count * dtype.bytes();
  }

  /**
   * The element type.
   *
   * @return the type
   */
  public DType dtype() {
    return dtype;
  }

  /**
   * The elements there is memory for.
   *
   * @return elements
   */
  public long count() {
    return count;
  }

  /**
   * All elements, for collectives and for copies to and from host views.
   *
   * @return a view, valid until the buffer is closed
   * @throws CollectiveException CLOSED
   */
  public DeviceView view() {
    if (closed) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "the device buffer is closed");
    }
    return memory.view(dtype, 0, count);
  }

  /**
   * Frees what was allocated: no call may be under way on it. What peers have mapped is freed once
   * they have let go of it. Idempotent.
   */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      release.run();
    }
  }
}
