// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.contract.ReduceContract;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.OracleInputs;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * What every task of the {@code digest} command does: makes its logical ranks' inputs, reduces
 * them, and hashes the whole result. Shows that rank code needs a {@link Communicator} and nothing
 * of Spark, so that a unit test can run it in a {@link org.rankfold.group.LoopbackGroup}.
 */
public final class DigestJob {
  private DigestJob() {}

  /**
   * Reduces the inputs of a row with all tasks of the group, which call with the same row. Blocks
   * as an all-reduce does.
   *
   * @param communicator the task's communicator, over the row's world
   * @param row what is reduced; its own answer is not looked at
   * @param kind where this task's addends and result lie
   * @return the SHA-256 of this task's result
   * @throws org.rankfold.errors.CollectiveException as the all-reduce throws it, such as
   *     CONTRACT_MISMATCH when tasks bring different rows
   */
  public static String digest(Communicator communicator, GoldenRow row, MemoryKind kind) {
    CommunicatorInfo info = communicator.info();
    ReduceContract contract = row.contract();
    try (TaskMemory memory = new TaskMemory(communicator, kind)) {
      List<View> addends = new ArrayList<>();
      for (int r = 0; r < info.rankCount(); r++) {
        View addend = memory.view(contract.dtype(), row.n());
        fill(addend, row, info.firstRank() + r);
        addends.add(addend);
      }
      View out = memory.view(contract.dtype(), row.n());
      communicator.allReduce(contract.op(), contract.order(), addends, out);
      return BitDigest.of(out);
    }
  }

  /** A device's memory is filled by way of an array. */
  private static void fill(View addend, GoldenRow row, int rank) {
    View host =
        addend instanceof DeviceView
            ? TaskMemory.heap(addend.dtype(), Math.toIntExact(addend.count()))
            : addend;
    OracleInputs.fill(host, row.kind(), row.seed(), rank, 0);
    if (host != addend) {
      host.copyTo(addend);
    }
  }
}
