// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.DeviceConfig;
import org.rankfold.group.NcclGroups;
import org.rankfold.group.PeerGroups;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives the tasks of a formed group their GPUs and what joins them. */
final class GpuJoin {
  private static final Logger LOG = LoggerFactory.getLogger(GpuJoin.class);

  private GpuJoin() {}

  /**
   * Takes this task's GPU; blocks while NCCL's communicator forms, at most {@code
   * spark.rankfold.timeout.connect}.
   *
   * @param rows of all tasks, in their order
   * @param own this task's
   * @param communicator the task's; the group is lost when this throws
   * @param source settings, Spark's too
   * @return the GPU's ordinal in this process, or empty in a group without devices
   */
  static Optional<Integer> join(
      List<BootstrapRow> rows, BootstrapRow own, Communicator communicator, ConfigSource source) {
    DeviceConfig config = DeviceConfig.of(source);
    if (!config.isGpu()) {
      return Optional.empty();
    }
    try {
      List<GpuSeat> seats = seats(rows);
      GpuSeat seat = seats.get(own.task());
      NcclGroups.use(communicator, seat.ordinal());
      GpuPlan plan = GpuPlan.of(seats, config, GroupJoin.isEncrypted(source));
      if (plan.triesPeers() && reaches(plan, own, communicator, seat, source)) {
        return Optional.of(seat.ordinal());
      }
      if (own.task() == 0) {
        LOG.info("device memory moves by {}: {}", plan.isNccl() ? "NCCL" : "host", plan.reason());
      }
      if (plan.isNccl()) {
        InetAddress address =
            own.address().isEmpty() ? null : ProcessListener.parse(own.address()).getAddress();
        NcclGroups.attach(communicator, seat.ordinal(), address, source);
      }
      return Optional.of(seat.ordinal());
    } catch (RuntimeException | Error e) {
      communicator.abort(e);
      communicator.close();
      throw e;
    }
  }

  /** Whether tasks reach one another's memory; all conclude the same. */
  private static boolean reaches(
      GpuPlan plan,
      BootstrapRow own,
      Communicator communicator,
      GpuSeat seat,
      ConfigSource source) {
    PeerGroups.Outcome outcome = PeerGroups.attach(communicator, seat.ordinal(), source);
    if (!outcome.isReached() && plan.insists()) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "%s=peer cannot be: %s",
          ConfigKeys.DEVICE_TRANSPORT.name(),
          outcome.reason());
    }
    if (own.task() == 0) {
      LOG.info(
          outcome.isReached()
              ? "device memory is reached where it lies: {}"
              : "device memory cannot be reached where it lies: {}",
          outcome.reason());
    }
    return outcome.isReached();
  }

  private static List<GpuSeat> seats(List<BootstrapRow> rows) {
    List<GpuSeat> seats = new ArrayList<>();
    for (BootstrapRow row : rows) {
      int ordinal = row.gpu().chosen(BarrierBootstrap.localRank(rows, row));
      seats.add(
          new GpuSeat(
              row.describe(),
              row.process().toString(),
              row.process().bootId() + row.host(),
              ordinal,
              row.gpu().pciIds().get(ordinal),
              row.gpu().nccl()));
    }
    return seats;
  }
}
