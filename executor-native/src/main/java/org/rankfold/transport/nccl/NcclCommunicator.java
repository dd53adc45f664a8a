// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import org.bytedeco.cuda.global.nccl;
import org.bytedeco.cuda.nccl.ncclComm;
import org.bytedeco.cuda.nccl.ncclConfig_t;
import org.bytedeco.cuda.nccl.ncclUniqueId;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerPointer;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * A non-blocking communicator: its calls begin something and return, and whoever calls asks, with a
 * deadline and an eye on the latch, until it is done. So nobody is ever inside the library for
 * long, which is what makes ending it from another thread safe.
 */
final class NcclCommunicator {
  private static final long SPIN_NS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long PARK_NS = TimeUnit.MICROSECONDS.toNanos(10);

  private enum State {
    OPEN,
    CLOSED,
    ABORTED
  }

  private final CudaDevice device;
  private final int tasks;
  private final int task;
  private final NcclTimeouts timeouts;
  private final AbortLatch latch;

  /** Held by a thread while it is inside the library. */
  private final ReentrantLock inside = new ReentrantLock();

  /** The library may write the handle again when it has connected: so it lives as long. */
  private final PointerPointer<ncclComm> cell = new PointerPointer<>(1L);

  private final ncclConfig_t config = NcclConfig.nonBlocking();
  private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);
  private final LastCall last;
  private ncclComm handle;
  private volatile CollectiveException failure;

  private NcclCommunicator(
      CudaDevice device, int tasks, int task, NcclTimeouts timeouts, AbortLatch latch) {
    this.device = device;
    this.tasks = tasks;
    this.task = task;
    this.timeouts = timeouts;
    this.latch = latch;
    this.last = new LastCall(inside, "nccl " + seat(), timeouts.exitNs());
  }

  /**
   * Forms a communicator with all other tasks that have the id.
   *
   * @throws CollectiveException TIMEOUT, the latch's cause, or BOOTSTRAP_FAILED; nothing is left
   *     behind then, unless it is MEMORY_STILL_BORROWED
   */
  static NcclCommunicator open(
      CudaDevice device,
      int tasks,
      int task,
      byte[] uniqueId,
      NcclTimeouts timeouts,
      Deadline deadline,
      AbortLatch latch) {
    NcclCommunicator made = new NcclCommunicator(device, tasks, task, timeouts, latch);
    try {
      made.start(uniqueId);
      made.awaitReady("ncclCommInitRankConfig", deadline);
      return made;
    } catch (RuntimeException e) {
      try {
        made.abort();
      } catch (CollectiveException fatal) {
        fatal.addSuppressed(e);
        throw fatal;
      }
      throw made.asBootstrapFailure(e);
    }
  }

  private RuntimeException asBootstrapFailure(RuntimeException e) {
    boolean isPlain =
        latch.cause() == e
            || !(e instanceof CollectiveException c)
            || c.code() == ErrorCode.TIMEOUT;
    return isPlain
        ? e
        : new CollectiveException(
            ErrorCode.BOOTSTRAP_FAILED, "nccl " + seat() + " cannot connect: " + e.getMessage(), e);
  }

  private void start(byte[] uniqueId) {
    enter();
    try (ncclUniqueId id = new ncclUniqueId()) {
      device.makeCurrent();
      new BytePointer(id).capacity(uniqueId.length).put(uniqueId);
      int code = nccl.ncclCommInitRankConfig(cell, tasks, id, task, config);
      handle = cell.get(ncclComm.class, 0);
      NcclCheck.isInProgress(code, "ncclCommInitRankConfig");
    } finally {
      leave();
    }
  }

  CudaDevice device() {
    return device;
  }

  int tasks() {
    return tasks;
  }

  int task() {
    return task;
  }

  NcclTimeouts timeouts() {
    return timeouts;
  }

  AbortLatch latch() {
    return latch;
  }

  /** False once it failed, was closed or aborted. */
  boolean isOpen() {
    return state.get() == State.OPEN && failure == null;
  }

  ncclComm handle() {
    return handle;
  }

  /**
   * Runs a call that enqueues on a stream, and returns once the stream has it: before, the library
   * may still be connecting, on a thread of its own.
   *
   * @param body calls the library and returns its code
   * @throws CollectiveException as {@link NcclCheck}, TIMEOUT, or the latch's cause; no call will
   *     succeed afterwards
   */
  void enqueue(String call, IntSupplier body) {
    Deadline deadline = Deadline.after(System.nanoTime(), timeouts.callNs());
    try {
      boolean isBegun;
      enter();
      try {
        device.makeCurrent();
        isBegun = NcclCheck.isInProgress(body.getAsInt(), call);
      } finally {
        leave();
      }
      if (isBegun) {
        awaitReady(call, deadline);
      }
    } catch (CollectiveException e) {
      throw lost(e);
    }
  }

  /** Throws what failed since, if anything did. */
  void check() {
    try {
      isInProgress("an earlier call");
    } catch (CollectiveException e) {
      throw lost(e);
    }
  }

  private CollectiveException lost(CollectiveException e) {
    if (failure == null) {
      boolean isOurs = latch.cause() != e && state.get() == State.OPEN;
      failure =
          isOurs
              ? new CollectiveException(e.code(), "nccl " + seat() + ": " + e.getMessage(), e)
              : e;
    }
    return failure;
  }

  private void awaitReady(String call, Deadline deadline) {
    long startNs = System.nanoTime();
    while (isInProgress(call)) {
      if (latch.isTripped()) {
        throw latch.cause();
      }
      long nowNs = System.nanoTime();
      if (deadline.isExpired(nowNs)) {
        throw new CollectiveException(
            ErrorCode.TIMEOUT,
            String.format(
                Locale.ROOT,
                "%s of nccl %s was not done within %.3f s",
                call,
                seat(),
                deadline.budgetSeconds()));
      }
      if (nowNs - startNs < SPIN_NS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PARK_NS);
      }
    }
  }

  private boolean isInProgress(String call) {
    enter();
    try {
      int[] result = new int[1];
      NcclCheck.success(nccl.ncclCommGetAsyncError(handle, result), "ncclCommGetAsyncError");
      return NcclCheck.isInProgress(result[0], call);
    } finally {
      leave();
    }
  }

  /** Into the library, unless it has been left for ever; a hung thread inside is not waited for. */
  private void enter() {
    while (true) {
      requireOpen();
      try {
        if (inside.tryLock(1, TimeUnit.MILLISECONDS)) {
          break;
        }
      } catch (InterruptedException e) {
        // A task is told of its end by the latch; the flag goes back when the lock is had.
        enterInterrupted();
        break;
      }
    }
    if (state.get() != State.OPEN) {
      leave();
      requireOpen();
    }
  }

  private void enterInterrupted() {
    try {
      while (!inside.tryLock()) {
        requireOpen();
        Thread.onSpinWait();
      }
    } finally {
      Thread.currentThread().interrupt();
    }
  }

  private void leave() {
    inside.unlock();
  }

  private void requireOpen() {
    if (state.get() == State.OPEN && failure == null) {
      return;
    }
    if (failure != null) {
      throw failure;
    }
    if (latch.isTripped()) {
      throw latch.cause();
    }
    throw CollectiveException.usage(
        ErrorCode.CLOSED, "nccl %s is %s", seat(), state.get().name().toLowerCase(Locale.ROOT));
  }

  /**
   * Ends everything, whatever is enqueued and whatever peers do; any thread, any time.
   *
   * @throws CollectiveException MEMORY_STILL_BORROWED when the library does not let go in time
   */
  void abort() {
    if (state.compareAndSet(State.OPEN, State.ABORTED)) {
      end("ncclCommAbort", () -> nccl.ncclCommAbort(handle));
    }
    if (state.get() == State.ABORTED) {
      last.await("ncclCommAbort");
    }
  }

  /**
   * Ends in good order when nothing is enqueued; what fails then is ended by {@link #abort}.
   *
   * @return null, or why the end was not a good one
   * @throws CollectiveException MEMORY_STILL_BORROWED when the library does not let go in time
   */
  CollectiveException close() {
    if (state.get() != State.OPEN) {
      return null;
    }
    CollectiveException problem = failure;
    if (problem == null) {
      try {
        enqueue("ncclCommFinalize", () -> nccl.ncclCommFinalize(handle));
      } catch (CollectiveException e) {
        problem = e;
      }
    }
    if (problem != null) {
      abort();
    } else if (state.compareAndSet(State.OPEN, State.CLOSED)) {
      end("ncclCommDestroy", () -> nccl.ncclCommDestroy(handle));
      last.await("ncclCommDestroy");
    }
    return problem;
  }

  private void end(String call, IntSupplier body) {
    last.start(
        call,
        () -> {
          if (handle != null && !handle.isNull()) {
            device.makeCurrent();
            NcclCheck.success(body.getAsInt(), call);
          }
          config.close();
          cell.close();
        });
  }

  private String seat() {
    return "task=" + task + " tasks=" + tasks + " on " + device.name();
  }
}
