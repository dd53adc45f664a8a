// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.concurrent.atomic.AtomicBoolean;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.cudart;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DeviceView;

/**
 * A queue of a device's work. Whatever is enqueued runs in order, after the call that enqueued it
 * has returned; memory it uses must stay alive until an event behind it is done. Thread-safe, but
 * the order of two threads' work is theirs to settle.
 */
public final class CudaStream implements AutoCloseable {
  private final CudaDevice device;
  private final CUstream_st handle;
  private final boolean isOwned;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private CudaStream(CudaDevice device, CUstream_st handle, boolean isOwned) {
    this.device = device;
    this.handle = handle;
    this.isOwned = isOwned;
  }

  /**
   * A stream of its own, which does not wait for the legacy default stream.
   *
   * @param device whose
   * @return the stream, to be closed
   */
  public static CudaStream create(CudaDevice device) {
    device.makeCurrent();
    CUstream_st handle = new CUstream_st();
    CudaCheck.driver(
        cudart.cuStreamCreate(handle, cudart.CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    return new CudaStream(device, handle, true);
  }

  /**
   * Somebody else's stream, such as a framework's.
   *
   * @param device whose
   * @param address the {@code cudaStream_t} or {@code CUstream} as a number; 0 is the legacy
   *     default stream
   * @return the stream; closing it leaves the other's alone
   */
  public static CudaStream borrow(CudaDevice device, long address) {
    return new CudaStream(device, new CUstream_st(new RawPointer(address)), false);
  }

  /**
   * The device whose queue this is.
   *
   * @return the device
   */
  public CudaDevice device() {
    return device;
  }

  /**
   * The stream for other libraries of this process.
   *
   * @return the {@code cudaStream_t} as a number, valid until {@link #close}
   * @throws CollectiveException CLOSED when the stream was given up
   */
  public long address() {
    return handle().address();
  }

  /**
   * Enqueues a copy of device elements; to another device's memory too.
   *
   * @param from where from
   * @param to where to, the same type and count, not overlapping
   * @throws CollectiveException INVALID_ARGUMENT when type or count differ
   */
  public void copy(DeviceView from, DeviceView to) {
    if (from.dtype() != to.dtype() || from.count() != to.count()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "source %s != destination %s", from, to);
    }
    if (from.count() > 0) {
      copy(from.address(), to.address(), from.byteCount());
    }
  }

  /**
   * Enqueues work behind another stream's event.
   *
   * @param event recorded before
   */
  public void waitFor(CudaEvent event) {
    device.makeCurrent();
    CudaCheck.driver(cudart.cuStreamWaitEvent(handle(), event.handle(), 0), "cuStreamWaitEvent");
  }

  /**
   * Whether everything enqueued has been done.
   *
   * @return false while something runs or waits
   * @throws CollectiveException when the work failed
   */
  public boolean isDone() {
    device.makeCurrent();
    return CudaCheck.isDone(cudart.cuStreamQuery(handle()), "cuStreamQuery");
  }

  /**
   * Waits until everything enqueued has been done.
   *
   * @param deadline when to give up
   * @param abort ends the wait with its cause; may be null
   * @throws CollectiveException TIMEOUT, or the latch's cause: the work goes on and its memory is
   *     still in use; DEVICE_LOST or DEVICE_CALL_FAILED when the work failed
   */
  public void await(Deadline deadline, AbortLatch abort) {
    CudaWait.until(this::isDone, "work on a stream of " + device.name(), deadline, abort);
  }

  /**
   * Waits until everything enqueued has been done, for whoever then uses its memory again or frees
   * it.
   *
   * @param timeoutNs when to give up
   * @throws CollectiveException MEMORY_STILL_BORROWED when the device was not done in time: nobody
   *     may use that memory again; DEVICE_LOST or DEVICE_CALL_FAILED when the work failed
   */
  public void drain(long timeoutNs) {
    try {
      await(Deadline.after(System.nanoTime(), timeoutNs), null);
    } catch (CollectiveException e) {
      throw e.code() == ErrorCode.TIMEOUT
          ? new CollectiveException(ErrorCode.MEMORY_STILL_BORROWED, e.getMessage(), e)
          : e;
    }
  }

  /**
   * Enqueues a copy of pinned host memory to the device, which needs none of its multiprocessors.
   *
   * @param pinned where from, an address of {@link PinnedMemory}
   * @param to an address of the device
   * @param bytes how many
   */
  public void write(long pinned, long to, long bytes) {
    copy(pinned, to, bytes);
  }

  /** Bytes between any two addresses: host memory must be pinned. */
  void copy(long from, long to, long bytes) {
    device.makeCurrent();
    CudaCheck.driver(cudart.cuMemcpyAsync(to, from, bytes, handle()), "cuMemcpyAsync");
  }

  void fill(long address, byte value, long bytes) {
    device.makeCurrent();
    CudaCheck.driver(cudart.cuMemsetD8Async(address, value, bytes, handle()), "cuMemsetD8Async");
  }

  CUstream_st handle() {
    if (isClosed.get()) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "a stream of %s is closed", device.name());
    }
    return handle;
  }

  /** Gives the stream up; work that is enqueued still runs. Doing it again does nothing. */
  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true) && isOwned) {
      device.makeCurrent();
      CudaCheck.driver(cudart.cuStreamDestroy(handle), "cuStreamDestroy");
    }
  }
}
