// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bits;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.OracleInputs;
import org.rankfold.view.View;

/** The inputs of all logical ranks of a row, made once and read by many groups. */
final class RowInputs {
  private final GoldenRow row;
  private final Layout layout;
  private final List<View> byRank = new ArrayList<>();

  RowInputs(GoldenRow row, Layout layout) {
    this.row = row;
    this.layout = layout;
    for (int rank = 0; rank < row.contract().world(); rank++) {
      View view = layout.view(row.contract().dtype(), (int) row.n(), rank);
      OracleInputs.fill(view, row.kind(), row.seed(), rank, 0);
      byRank.add(view);
    }
  }

  /** The addends of the logical ranks a task hosts. */
  List<View> of(CommunicatorInfo info) {
    return byRank.subList(info.firstRank(), info.firstRank() + info.rankCount());
  }

  View[] all() {
    return byRank.toArray(View[]::new);
  }

  /** A fresh view for a task's result. */
  View out(int task) {
    return layout.view(row.contract().dtype(), (int) row.n(), task + 1);
  }
}
