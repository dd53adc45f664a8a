// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.util.List;
import org.apache.spark.BarrierTaskContext;
import org.rankfold.spark.bootstrap.BootstrapRow.RowFailure;

/** Takes part in the exchange of rows and never connects, as one that dies in between. */
public final class AbsentPeer {
  private static final RowFailure NONE = null;

  private AbsentPeer() {}

  /**
   * Exchanges rows with the stage's other tasks, which join a group; blocks until all have.
   *
   * @param context of this task, the stage's last, so that it would be the one to dial
   * @param world logical ranks
   */
  public static void exchangeRows(BarrierTaskContext context, int world) {
    BootstrapRow row =
        new BootstrapRow(
            context.partitionId(),
            world,
            context.numPartitions(),
            "absent",
            "nowhere",
            new ProcessIdentity("boot", "pid:[1]", 1, "nonce"),
            "127.0.0.1 9",
            "",
            0,
            List.of(),
            GpuRow.NONE,
            Versions.own(),
            MemoryLimits.own(),
            "n",
            "s",
            NONE);
    context.allGather(row.encode());
  }
}
