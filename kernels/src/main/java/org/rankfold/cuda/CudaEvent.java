// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import java.util.concurrent.atomic.AtomicBoolean;
import org.bytedeco.cuda.cudart.CUevent_st;
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
