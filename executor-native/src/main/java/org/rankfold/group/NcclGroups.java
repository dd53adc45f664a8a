// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.collective.Communicators;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.deadline.Deadline;
import org.rankfold.transport.DeviceExchange;
import org.rankfold.transport.nccl.NcclExchange;
import org.rankfold.transport.nccl.NcclSocketInterface;
import org.rankfold.transport.nccl.NcclTimeouts;
import org.rankfold.view.View;

/** Gives the tasks of a formed group devices, and NCCL between them. */
@InternalApi
public final class NcclGroups {
  /** As NCCL has it. */
  private static final int ID_BYTES = 128;

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
   * @param address where peers on other hosts reach this one, or null when all tasks are in this
   *     process
   * @param source the settings
   * @throws org.rankfold.errors.CollectiveException when it does not form within {@code
   *     spark.rankfold.timeout.connect}; the caller aborts and closes the communicator then
   */
  public static void attach(
      Communicator communicator, int ordinal, InetAddress address, ConfigSource source) {
    if (address != null) {
      NcclSocketInterface.PROCESS.choose(address);
    }
    CommunicatorInfo info = communicator.info();
    long connectNs = ConfigKeys.CONNECT_TIMEOUT.of(source);
    byte[] id = new byte[ID_BYTES];
    if (info.task() == 0) {
      id = NcclExchange.uniqueId();
    }
    try {
      id = broadcast(communicator, id);
    } catch (RuntimeException | Error e) {
      if (info.task() == 0) {
        NcclExchange.forget(id);
      }
      throw e;
    }
    DeviceExchange exchange =
        NcclExchange.open(
            CudaDevice.of(ordinal),
            info.tasks(),
            info.task(),
            id,
            new NcclTimeouts(connectNs, ConfigKeys.EXIT_TIMEOUT.of(source)),
            Deadline.after(System.nanoTime(), connectNs),
            Communicators.latch(communicator));
    Communicators.attach(communicator, exchange);
  }

  private static byte[] broadcast(Communicator communicator, byte[] id) {
    int[] words = new int[ID_BYTES / Integer.BYTES];
    ByteBuffer.wrap(id).asIntBuffer().get(words);
    communicator.broadcast(0, View.of(words));
    ByteBuffer received = ByteBuffer.allocate(ID_BYTES);
    received.asIntBuffer().put(words);
    return received.array();
  }
}
