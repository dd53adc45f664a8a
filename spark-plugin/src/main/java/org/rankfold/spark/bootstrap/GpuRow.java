// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.util.List;
import org.rankfold.cuda.CudaDeviceInfo;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.cuda.DeviceChoice;
import org.rankfold.transport.nccl.NcclLibrary;

/**
 * What a task tells its peers of its GPUs.
 *
 * @param ordinal the device that Spark assigned to the task, in its process; {@link #BY_TURNS} when
 *     it assigned none
 * @param pciIds the devices of its process, by ordinal; none when the group has no devices
 * @param nccl NCCL's version there, as it counts it; 0 when it cannot be used
 */
record GpuRow(int ordinal, List<String> pciIds, int nccl) {
  /** Tasks of a host take devices by turns. */
  static final int BY_TURNS = -1;

  /** Of a group without devices. */
  static final GpuRow NONE = new GpuRow(BY_TURNS, List.of(), 0);

  /** This process's, for a task with these addresses of Spark's; throws when CUDA is not usable. */
  static GpuRow own(List<String> addresses) {
    List<CudaDeviceInfo> devices = CudaProbe.process().require().devices();
    int ordinal =
        addresses.isEmpty()
            ? BY_TURNS
            : DeviceChoice.ordinal(
                addresses.get(0), System.getenv("CUDA_VISIBLE_DEVICES"), devices);
    NcclLibrary nccl = NcclLibrary.process();
    return new GpuRow(
        ordinal,
        devices.stream().map(CudaDeviceInfo::pciId).toList(),
        nccl.isAvailable() ? nccl.version() : 0);
  }

  /** The device of the task, by its place among its host's tasks. */
  int chosen(int localRank) {
    return ordinal == BY_TURNS ? DeviceChoice.ofLocalRank(localRank, pciIds.size()) : ordinal;
  }

  String encode() {
    return ordinal + " " + nccl + " " + String.join(",", pciIds);
  }

  static GpuRow decode(String text) {
    String[] parts = text.split(" ", -1);
    return new GpuRow(
        Integer.parseInt(parts[0]),
        parts[2].isEmpty() ? List.of() : List.of(parts[2].split(",", -1)),
        Integer.parseInt(parts[1]));
  }
}
