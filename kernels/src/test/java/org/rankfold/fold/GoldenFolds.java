// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.util.List;
import java.util.stream.Stream;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.digest.OracleInputs;
import org.rankfold.view.View;

/** Runs a fold over the golden table. */
final class GoldenFolds {
  private GoldenFolds() {}

  /** The rows whose digest the fold does not reach, described. */
  static List<String> wrongRows(Fold fold, TestMemory memory) {
    return wrong(fold, memory).toList();
  }

  /** Whether there is such a row; stops at the first. */
  static boolean isWrong(Fold fold, TestMemory memory) {
    return wrong(fold, memory).findFirst().isPresent();
  }

  private static Stream<String> wrong(Fold fold, TestMemory memory) {
    return GoldenTable.builtIn().stream()
        .filter(row -> !digest(row, fold, memory).equals(row.sha256()))
        .map(GoldenRow::describe);
  }

  private static String digest(GoldenRow row, Fold fold, TestMemory memory) {
    View[] addends = new View[row.contract().world()];
    for (int r = 0; r < addends.length; r++) {
      addends[r] = memory.view(row.contract().dtype(), (int) row.n(), r);
      OracleInputs.fill(addends[r], row.kind(), row.seed(), r, 0);
    }
    View out = memory.view(row.contract().dtype(), (int) row.n(), addends.length);
    fold.fold(row.contract(), addends, new View[] {out});
    return BitDigest.of(out);
  }
}
