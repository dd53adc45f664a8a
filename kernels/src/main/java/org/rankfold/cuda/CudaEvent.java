// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.concurrent.atomic.AtomicBoolean;
import org.bytedeco.cuda.cudart.CUevent_st;
import org.bytedeco.cuda.cudart.CUipcEventHandle_v1;
import org.bytedeco.cuda.global.cudart;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** A mark in a stream that tells when what was enqueued before it has been done. Thread-safe. */
public final class CudaEvent implements AutoCloseable {
  private final CudaDevice device;
  private final CUevent_st handle;
  private final AtomicBoolean isClosed = new AtomicBoolean();

  private CudaEvent(CudaDevice device, CUevent_st handle) {
    this.device = device;
    this.handle = handle;
  }

  /**
   * An event for waiting.
   *
   * @param device whose streams it marks
   * @return the event, to be closed
   */
  public static CudaEvent create(CudaDevice device) {
    return create(device, cudart.CU_EVENT_DISABLE_TIMING);
  }

  /**
   * An event that knows its time as well.
   *
   * @param device whose streams it marks
   * @return the event, to be closed
   */
  public static CudaEvent createTimed(CudaDevice device) {
    return create(device, cudart.CU_EVENT_DEFAULT);
  }

  /**
   * An event that other processes of the host may open by its {@link #ipcHandle()}.
   *
   * @param device whose streams it marks
   * @return the event, to be closed after every process that opened it has closed it
   */
  public static CudaEvent createShared(CudaDevice device) {
    return create(device, cudart.CU_EVENT_DISABLE_TIMING | cudart.CU_EVENT_INTERPROCESS);
  }

  /**
   * Another process's event. Waiting for it waits for the mark its owner set last, so the owner
   * says over another channel that it has set one.
   *
   * @param device the device in this process that the owner marks
   * @param handle what the owner's {@link #ipcHandle()} gave
   * @return the event, to be closed
   * @throws org.rankfold.errors.CollectiveException DEVICE_CALL_FAILED where processes can share
   *     nothing, as in some containers
   */
  public static CudaEvent openShared(CudaDevice device, byte[] handle) {
    device.makeCurrent();
    CUevent_st event = new CUevent_st();
    try (CUipcEventHandle_v1 ipc = new CUipcEventHandle_v1()) {
      for (int i = 0; i < handle.length; i++) {
        ipc.reserved(i, handle[i]);
      }
      CudaCheck.driver(cudart.cuIpcOpenEventHandle(event, ipc), "cuIpcOpenEventHandle");
    }
    return new CudaEvent(device, event);
  }

  /**
   * What another process opens this event by.
   *
   * @return 64 bytes
   * @throws org.rankfold.errors.CollectiveException DEVICE_CALL_FAILED for an event that is not
   *     shared
   */
  public byte[] ipcHandle() {
    device.makeCurrent();
    try (CUipcEventHandle_v1 ipc = new CUipcEventHandle_v1()) {
      CudaCheck.driver(cudart.cuIpcGetEventHandle(ipc, handle()), "cuIpcGetEventHandle");
      byte[] bytes = new byte[CudaIpc.HANDLE_BYTES];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = ipc.reserved(i);
      }
      return bytes;
    }
  }

  private static CudaEvent create(CudaDevice device, int flags) {
    device.makeCurrent();
    CUevent_st handle = new CUevent_st();
    CudaCheck.driver(cudart.cuEventCreate(handle, flags), "cuEventCreate");
    return new CudaEvent(device, handle);
  }

  /**
   * Marks the end of what a stream has been given so far.
   *
   * @param stream a stream of the event's device
   */
  public void record(CudaStream stream) {
    device.makeCurrent();
    CudaCheck.driver(cudart.cuEventRecord(handle(), stream.handle()), "cuEventRecord");
  }

  /**
   * Whether everything before the mark has been done.
   *
   * @return true also when nothing was recorded
   * @throws CollectiveException when the work failed
   */
  public boolean isDone() {
    device.makeCurrent();
    return CudaCheck.isDone(cudart.cuEventQuery(handle()), "cuEventQuery");
  }

  /**
   * Waits for everything before the mark.
   *
   * @param deadline when to give up
   * @param abort ends the wait with its cause; may be null
   * @throws CollectiveException TIMEOUT, or the latch's cause: the work goes on and its memory is
   *     still in use; DEVICE_LOST or DEVICE_CALL_FAILED when the work failed
   */
  public void await(Deadline deadline, AbortLatch abort) {
    CudaWait.until(this::isDone, "work of " + device.name(), deadline, abort);
  }

  /**
   * The time between two marks that are both done.
   *
   * @param start an earlier timed event
   * @return milliseconds; the device's clock ticks in half a microsecond or so
   */
  public double millisSince(CudaEvent start) {
    float[] millis = new float[1];
    CudaCheck.driver(
        cudart.cuEventElapsedTime(millis, start.handle(), handle()), "cuEventElapsedTime");
    return millis[0];
  }

  CUevent_st handle() {
    if (isClosed.get()) {
      throw CollectiveException.usage(ErrorCode.CLOSED, "an event of %s is closed", device.name());
    }
    return handle;
  }

  /** Gives the event up; a mark already set needs no event. Doing it again does nothing. */
  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true)) {
      device.makeCurrent();
      CudaCheck.driver(cudart.cuEventDestroy(handle), "cuEventDestroy");
    }
  }
}
