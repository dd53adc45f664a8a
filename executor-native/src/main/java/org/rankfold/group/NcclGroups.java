// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.collective.Communicators;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.deadline.Deadline;
import org.rankfold.transport.nccl.NcclExchange;
import org.rankfold.view.View;

/** Gives the tasks of a formed group devices, and NCCL between them. */
@InternalApi
public final class NcclGroups {
  private NcclGroups() {}

  /**
   * Gives a task its device, from which it may allocate. Does not block.
   *
   * @param communicator the task's
   * @param ordinal the device's number in this process
   */
  public static void use(Communicator communicator, int ordinal) {
    Communicators.use(communicator, CudaDevice.of(ordinal));
  }

  /**
   * Lets device memory move by NCCL from the next call on. Every task calls it, at the same point
   * of its calls: task 0 makes the id, which travels over the group itself, so it is made only when
   * all are there. Blocks until NCCL's communicator stands.
   *
   * @param communicator the task's
   * @param ordinal the device's number in this process
   * @param timeoutNs how long that may take
   * @throws org.rankfold.errors.CollectiveException when it does not form; the caller aborts and
   *     closes the communicator then
   */
  public static void attach(Communicator communicator, int ordinal, long timeoutNs) {
    CommunicatorInfo info = communicator.info();
    Deadline deadline = Deadline.after(System.nanoTime(), timeoutNs);
    int[] words = new int[NcclExchange.UNIQUE_ID_BYTES / Integer.BYTES];
    if (info.task() == 0) {
      IntBuffer id = ByteBuffer.wrap(NcclExchange.uniqueId()).asIntBuffer();
      id.get(words);
    }
    communicator.broadcast(0, View.of(words));
    ByteBuffer id = ByteBuffer.allocate(NcclExchange.UNIQUE_ID_BYTES);
    id.asIntBuffer().put(words);
    Communicators.attach(
        communicator,
        NcclExchange.open(
            CudaDevice.of(ordinal),
            info.tasks(),
            info.task(),
            id.array(),
            deadline,
            Communicators.latch(communicator)));
  }
}
