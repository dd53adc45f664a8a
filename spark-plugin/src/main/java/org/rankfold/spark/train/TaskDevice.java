// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.List;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaDeviceInfo;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.cuda.DeviceChoice;
import org.rankfold.spark.RankContext;

/** Which device a task trains on. */
final class TaskDevice {
  private TaskDevice() {}

  /**
   * The one Spark assigned to the task, else the host's by turns.
   *
   * @throws org.rankfold.errors.CollectiveException UNSUPPORTED with the reason when CUDA cannot be
   *     used; INVALID_CONFIG when Spark's address means none of the process's devices
   */
  static CudaDevice of(RankContext context) {
    List<CudaDeviceInfo> devices = CudaProbe.process().require().devices();
    return CudaDevice.of(
        context
            .device()
            .map(a -> DeviceChoice.ordinal(a, System.getenv("CUDA_VISIBLE_DEVICES"), devices))
            .orElseGet(() -> DeviceChoice.ofLocalRank(context.localRank(), devices.size())));
  }
}
