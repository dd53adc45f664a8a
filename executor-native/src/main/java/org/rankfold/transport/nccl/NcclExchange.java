// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.util.List;
import java.util.function.IntSupplier;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.nccl;
import org.bytedeco.cuda.nccl.ncclUniqueId;
import org.bytedeco.javacpp.BytePointer;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.view.DeviceView;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Device memory moved by NCCL, as bytes: sends, receives and gatherings, never a reduction. Who
 * forms it: all tasks compare {@link NcclLibrary#version()} and agree that they are ready, task 0
 * makes a unique id and hands it to the others over the group's own connections, then all open.
 * {@link NcclSocketInterface} comes before either.
 *
 * <p>Calls return when the stream has the work, which the first time between two tasks includes
 * connecting. A failed call loses the exchange: its owner trips the group's latch and aborts.
 */
public final class NcclExchange implements DeviceExchange {
  private static final Logger LOG = LoggerFactory.getLogger(NcclExchange.class);

  private final NcclCommunicator communicator;
  private final StreamMarks marks;

  private NcclExchange(NcclCommunicator communicator) {
    this.communicator = communicator;
    this.marks = new StreamMarks(communicator.device());
  }

  /**
   * Makes the id of a group that is about to open: a secret, since whoever has it can join; never
   * for a log. It opens a meeting point in this process, which ends when all tasks came, when
   * {@link #open} fails for task 0, or by {@link #forget}.
   *
   * @return 128 bytes for every task of the group, task 0's own process included
   * @throws CollectiveException UNSUPPORTED when NCCL cannot be used; INTERNAL, PEER_FAILED or
   *     DEVICE_CALL_FAILED when it fails
   */
  public static byte[] uniqueId() {
    NcclLibrary.process().require();
    NcclDefaults.apply();
    NcclSocketInterface.PROCESS.use();
    try (ncclUniqueId id = new ncclUniqueId()) {
      NcclCheck.success(nccl.ncclGetUniqueId(id), "ncclGetUniqueId");
      byte[] bytes = new byte[nccl.NCCL_UNIQUE_ID_BYTES];
      new BytePointer(id).capacity(bytes.length).get(bytes);
      return bytes;
    }
  }

  /**
   * Ends the meeting point of an id that is not going to be used, in the process that made it; does
   * nothing once all tasks came. Blocks a second at most.
   *
   * @param uniqueId as {@link #uniqueId} gave it
   */
  public static void forget(byte[] uniqueId) {
    NcclRoot.end(uniqueId);
  }

  /**
   * Connects to all other tasks of the group. Blocks until all came, the deadline or the latch; one
   * task a device.
   *
   * @param device this task's device
   * @param tasks how many, at least 1
   * @param task which one this is, from 0
   * @param uniqueId what task 0 made
   * @param timeouts of what follows
   * @param deadline when to give up
   * @param latch the group's: ends every wait of this exchange with its cause
   * @return the exchange, to be closed
   * @throws CollectiveException INVALID_ARGUMENT; UNSUPPORTED when NCCL cannot be used; TIMEOUT;
   *     the latch's cause; BOOTSTRAP_FAILED with what NCCL said; no thread of NCCL's is left then;
   *     of its sockets those to peers that never came may be (ADR 31). MEMORY_STILL_BORROWED when
   *     NCCL does not let go
   */
  public static NcclExchange open(
      CudaDevice device,
      int tasks,
      int task,
      byte[] uniqueId,
      NcclTimeouts timeouts,
      Deadline deadline,
      AbortLatch latch) {
    if (tasks < 1 || task < 0 || task >= tasks || uniqueId.length != nccl.NCCL_UNIQUE_ID_BYTES) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "task=%d is not inside tasks=%d, or idBytes=%d != %d",
          task,
          tasks,
          uniqueId.length,
          nccl.NCCL_UNIQUE_ID_BYTES);
    }
    NcclLibrary.process().require();
    NcclDefaults.apply();
    NcclSocketInterface.PROCESS.use();
    try {
      return new NcclExchange(
          NcclCommunicator.open(device, tasks, task, uniqueId, timeouts, deadline, latch));
    } catch (CollectiveException e) {
      if (task == 0) {
        NcclRoot.end(uniqueId);
      }
      throw e;
    }
  }

  @Override
  public String name() {
    return "nccl";
  }

  @Override
  public CudaDevice device() {
    return communicator.device();
  }

  @Override
  public void exchange(List<Move> sends, List<Move> receives, CudaStream on) {
    sends.forEach(this::requirePeer);
    receives.forEach(this::requirePeer);
    // Both sides leave out what is empty, and know so without a word: counts are equal.
    List<Move> leaving = sends.stream().filter(move -> move.view().count() > 0).toList();
    List<Move> arriving = receives.stream().filter(move -> move.view().count() > 0).toList();
    if (leaving.isEmpty() && arriving.isEmpty()) {
      return;
    }
    CUstream_st stream = RawAddress.stream(on);
    enqueue("ncclGroupEnd", on, () -> group(leaving, arriving, stream));
  }

  private int group(List<Move> sends, List<Move> receives, CUstream_st stream) {
    NcclCheck.success(nccl.ncclGroupStart(), "ncclGroupStart");
    int end = nccl.ncclSuccess;
    try {
      for (Move move : receives) {
        NcclCheck.isInProgress(
            nccl.ncclRecv(
                RawAddress.of(move.view()),
                move.view().byteCount(),
                nccl.ncclUint8,
                move.peer(),
                communicator.handle(),
                stream),
            "ncclRecv");
      }
      for (Move move : sends) {
        NcclCheck.isInProgress(
            nccl.ncclSend(
                RawAddress.of(move.view()),
                move.view().byteCount(),
                nccl.ncclUint8,
                move.peer(),
                communicator.handle(),
                stream),
            "ncclSend");
      }
    } finally {
      // Also after a failure: a group left open would swallow this thread's later calls.
      end = nccl.ncclGroupEnd();
    }
    return end;
  }

  @Override
  public void allGather(DeviceView part, DeviceView whole, CudaStream on) {
    requireOwn(part);
    requireOwn(whole);
    if (part.byteCount() * communicator.tasks() != whole.byteCount()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "part bytes=%d * tasks=%d != whole bytes=%d",
          part.byteCount(),
          communicator.tasks(),
          whole.byteCount());
    }
    if (part.count() == 0) {
      return;
    }
    CUstream_st stream = RawAddress.stream(on);
    enqueue(
        "ncclAllGather",
        on,
        () ->
            nccl.ncclAllGather(
                RawAddress.of(part),
                RawAddress.of(whole),
                part.byteCount(),
                nccl.ncclUint8,
                communicator.handle(),
                stream));
  }

  @Override
  public void check() {
    communicator.check();
  }

  @Override
  public void abort() {
    communicator.abort();
  }

  /**
   * Waits for what was enqueued, then ends in good order; after a failure it ends as {@link #abort}
   * does.
   *
   * @throws CollectiveException MEMORY_STILL_BORROWED when NCCL does not let go
   */
  @Override
  public void close() {
    CollectiveException problem;
    try {
      if (communicator.isOpen()) {
        marks.await(
            Deadline.after(System.nanoTime(), communicator.timeouts().callNs()),
            communicator.latch());
      }
      problem = communicator.close();
    } catch (CollectiveException e) {
      problem = e;
      communicator.abort();
      if (e.code() == ErrorCode.MEMORY_STILL_BORROWED) {
        throw e;
      }
    }
    marks.close();
    if (problem != null) {
      LOG.warn("nccl was ended by force: {}", problem.getMessage());
    }
  }

  NcclCommunicator communicator() {
    return communicator;
  }

  /** Enqueues, and marks the stream behind it. */
  void enqueue(String call, CudaStream on, IntSupplier body) {
    if (on.device() != device()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "stream of %s != device=%s",
          on.device().name(),
          device().name());
    }
    communicator.enqueue(call, body);
    marks.mark(on);
  }

  private void requirePeer(Move move) {
    if (move.peer() < 0
        || move.peer() >= communicator.tasks()
        || move.peer() == communicator.task()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "peer=%d is not another task of tasks=%d than task=%d",
          move.peer(),
          communicator.tasks(),
          communicator.task());
    }
    requireOwn(move.view());
  }

  private void requireOwn(DeviceView view) {
    if (view.port() != device()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "%s is not on device=%s", view, device().name());
    }
  }
}
