// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport;

import java.util.List;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.view.DeviceView;

/**
 * Moves device memory between all tasks of a group in the order of a stream; it never adds. It
 * stands beside a {@link Transport}, which carries what calls are about and who failed: no byte is
 * moved before every task agreed on the call there. Every task makes the same calls in the same
 * order, each with a stream of {@link #device()}; they enqueue and return. One thread at a time
 * calls, except for {@link #abort}.
 */
public interface DeviceExchange extends AutoCloseable {
  /**
   * One side of a movement between two tasks.
   *
   * @param peer the other task
   * @param view what is sent, or where it arrives; borrowed until what the stream was given is done
   */
  record Move(int peer, DeviceView view) {}

  /**
   * The name users choose it by.
   *
   * @return for example {@code nccl}
   */
  String name();

  /**
   * This task's device.
   *
   * @return the device that all views and streams are of
   */
  CudaDevice device();

  /**
   * Enqueues movements that may all run at once. The n-th send to a peer meets that peer's n-th
   * receive from this task, and has as many bytes.
   *
   * @param sends what leaves
   * @param receives what arrives; overlaps no send
   * @param on the stream
   */
  void exchange(List<Move> sends, List<Move> receives, CudaStream on);

  /**
   * Enqueues the gathering of equal parts: part t of the whole becomes task t's.
   *
   * @param part this task's part, or its own place in the whole
   * @param whole room for all tasks' parts, in task order
   * @param on the stream
   */
  void allGather(DeviceView part, DeviceView whole, CudaStream on);

  /**
   * Looks, at once, whether something enqueued earlier failed.
   *
   * @throws org.rankfold.errors.CollectiveException PEER_FAILED or INTERNAL; the group is lost then
   */
  void check();

  /**
   * Ends what was enqueued, whatever peers do, and refuses what comes; idempotent, any thread.
   * Blocks a bounded time.
   *
   * @throws org.rankfold.errors.CollectiveException MEMORY_STILL_BORROWED when the library does not
   *     let go: the process should end
   */
  void abort();

  /** Ends in good order, once everything enqueued is done; idempotent. */
  @Override
  void close();
}
