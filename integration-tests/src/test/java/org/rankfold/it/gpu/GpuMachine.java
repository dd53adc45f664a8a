// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.gpu;

import static org.assertj.core.api.Assertions.fail;

import org.junit.jupiter.api.Assumptions;
import org.rankfold.cuda.CudaProbe;

/** Whether this machine can run tests tagged gpu. */
final class GpuMachine {
  private GpuMachine() {}

  /** Without a device the test ends as skipped with the reason, or failed where one is promised. */
  static void require() {
    CudaProbe probe = CudaProbe.process();
    if (!probe.isAvailable()) {
      if (Boolean.getBoolean("rankfold.gpu.required")) {
        fail("rankfold.gpu.required, but " + probe.reason());
      }
      System.out.println("SKIPPED: " + probe.reason());
      Assumptions.abort(probe.reason());
    }
  }
}
