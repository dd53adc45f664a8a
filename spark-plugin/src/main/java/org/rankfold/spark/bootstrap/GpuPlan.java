// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.util.List;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.DeviceConfig;

/**
 * What moves a group's device memory, concluded by every task from the same seats: first, whether
 * tasks try to reach it where it lies; then, when nothing comes of that, whether NCCL moves it.
 * Without either tasks of one JVM fold where the memory is, and others go by way of the host.
 *
 * @param triesPeers whether the tasks try
 * @param insists whether nothing else will do
 * @param isNccl whether NCCL does otherwise
 * @param reason why not NCCL, or that it does; of a plan that insists, nothing
 */
record GpuPlan(boolean triesPeers, boolean insists, boolean isNccl, String reason) {
  /** The oldest NCCL that will do, as NCCL counts versions. */
  static final int LEAST_NCCL = 22_600;

  private static final String TRANSPORT = "spark.rankfold.device.transport";

  /**
   * Concludes.
   *
   * @throws CollectiveException UNSUPPORTED or INVALID_CONFIG when NCCL or the peers' reach was
   *     asked for by name and cannot join the seats
   */
  static GpuPlan of(List<GpuSeat> seats, DeviceConfig config, boolean isEncrypted) {
    if (config.transport().equals("host")) {
      return new GpuPlan(false, false, false, TRANSPORT + "=host");
    }
    if (seats.size() == 1) {
      return new GpuPlan(false, false, false, "there is one task");
    }
    if (config.transport().equals("peer")) {
      String apart = apart(seats);
      if (apart != null) {
        throw CollectiveException.usage(
            ErrorCode.UNSUPPORTED, "%s=peer cannot be: %s", TRANSPORT, apart);
      }
      return new GpuPlan(true, true, false, "");
    }
    boolean triesPeers = config.transport().equals("auto") && apart(seats) == null;
    GpuSeat one = seats.get(0);
    if (triesPeers
        && seats.stream().allMatch(s -> s.process().equals(one.process()) && s.sharesDevice(one))) {
      // The loopback transport folds there, with nothing to wait for.
      return new GpuPlan(false, false, false, "all tasks live in one JVM and share a GPU");
    }
    boolean isAsked = config.transport().equals("nccl");
    String obstacle = obstacle(seats, config, isEncrypted);
    if (obstacle != null) {
      if (isAsked) {
        throw CollectiveException.usage(
            ErrorCode.UNSUPPORTED, "%s=nccl cannot be: %s", TRANSPORT, obstacle);
      }
      return new GpuPlan(triesPeers, false, false, obstacle);
    }
    GpuSeat first = seats.get(0);
    if (!isAsked && seats.stream().allMatch(seat -> seat.process().equals(first.process()))) {
      return new GpuPlan(triesPeers, false, false, "all tasks live in one JVM");
    }
    return new GpuPlan(triesPeers, false, true, "NCCL " + first.nccl());
  }

  /** The first two tasks that live on different hosts, or null. */
  private static String apart(List<GpuSeat> seats) {
    GpuSeat first = seats.get(0);
    for (GpuSeat seat : seats) {
      if (!seat.host().equals(first.host())) {
        return first.task() + " and " + seat.task() + " live on different hosts";
      }
    }
    return null;
  }

  private static String obstacle(List<GpuSeat> seats, DeviceConfig config, boolean isEncrypted) {
    GpuSeat first = seats.get(0);
    for (GpuSeat seat : seats) {
      if (seat.nccl() < LEAST_NCCL) {
        return String.format(
            "%s has NCCL version=%d < %d; install libnccl.so.2 where its library path finds it",
            seat.task(), seat.nccl(), LEAST_NCCL);
      }
      if (seat.nccl() != first.nccl()) {
        return String.format(
            "%s NCCL version=%d != %s version=%d",
            seat.task(), seat.nccl(), first.task(), first.nccl());
      }
      if (isEncrypted && !config.allowsPlaintext() && !seat.host().equals(first.host())) {
        return "Spark was told to encrypt, and NCCL sends elements between hosts in the clear;"
            + " spark.rankfold.nccl.plaintext=allow accepts that";
      }
    }
    return config.allowsSharedDevice() ? null : sharedDevice(seats);
  }

  private static String sharedDevice(List<GpuSeat> seats) {
    for (int i = 0; i < seats.size(); i++) {
      for (int j = 0; j < i; j++) {
        if (seats.get(i).sharesDevice(seats.get(j))) {
          return String.format(
              "%s and %s share GPU %s, which NCCL refuses; give each task a GPU"
                  + " (spark.task.resource.gpu.amount=1), or set spark.rankfold.nccl.shared-device"
                  + "=allow where NCCL takes them for hosts",
              seats.get(j).task(), seats.get(i).task(), seats.get(i).pciId());
        }
      }
    }
    return null;
  }
}
