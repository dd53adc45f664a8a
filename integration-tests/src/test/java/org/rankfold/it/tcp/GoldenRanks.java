// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.contract.DType;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.OracleInputs;
import org.rankfold.view.View;

/** What one task does to compare a golden row. */
public final class GoldenRanks {
  private GoldenRanks() {}

  static Set<Integer> worlds() {
    return GoldenTable.builtIn().stream()
        .map(row -> row.contract().world())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Every so many of a world's rows.
   *
   * @param world logical ranks
   * @param step 1 for all
   * @return the rows in the table's order
   */
  public static List<GoldenRow> rows(int world, int step) {
    List<GoldenRow> rows =
        GoldenTable.builtIn().stream().filter(r -> r.contract().world() == world).toList();
    return IntStream.range(0, rows.size()).filter(i -> i % step == 0).mapToObj(rows::get).toList();
  }

  /**
   * The hash of the row's all-reduce as this task received it.
   *
   * @param communicator a task's, of the row's world
   * @param row what to reduce
   * @param direct whether in direct memory
   * @return hexadecimal digits
   */
  public static String allReduce(Communicator communicator, GoldenRow row, boolean direct) {
    CommunicatorInfo info = communicator.info();
    DType dtype = row.contract().dtype();
    List<View> addends = new ArrayList<>();
    for (int r = 0; r < info.rankCount(); r++) {
      View addend = memory(dtype, row.n(), direct);
      OracleInputs.fill(addend, row.kind(), row.seed(), info.firstRank() + r, 0);
      addends.add(addend);
    }
    View out = memory(dtype, row.n(), direct);
    communicator.allReduce(row.contract().op(), row.contract().order(), addends, out);
    return BitDigest.of(out);
  }

  static View memory(DType dtype, long count, boolean direct) {
    int n = Math.toIntExact(count);
    if (direct) {
      return View.of(ByteBuffer.allocateDirect(n * dtype.bytes()), dtype);
    }
    return switch (dtype) {
      case F32 -> View.of(new float[n]);
      case F64 -> View.of(new double[n]);
      case F16, BF16 -> View.of(new short[n], dtype);
      case I32 -> View.of(new int[n]);
      case I64 -> View.of(new long[n]);
    };
  }
}
