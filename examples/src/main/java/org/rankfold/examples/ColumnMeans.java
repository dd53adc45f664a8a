// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.view.View;

/**
 * Shows rank code: it knows a communicator and the rows of the logical ranks it hosts, nothing of
 * Spark, so it runs in a unit test as it runs on a cluster. Every logical rank adds up its own
 * rows; one all-reduce adds the sums in rank order; one division makes means.
 */
final class ColumnMeans {
  private ColumnMeans() {}

  /**
   * The means of all columns over the rows of all logical ranks, equal on every task.
   *
   * @param communicator the task's
   * @param rowsByRank the rows of each logical rank the task hosts, ascending; a rank may have none
   * @param columns the number of columns of every row
   * @return one mean for each column; NaN when no rank has a row
   */
  static float[] of(Communicator communicator, List<List<LabelledRow>> rowsByRank, int columns) {
    List<View> addends = new ArrayList<>();
    for (List<LabelledRow> rows : rowsByRank) {
      addends.add(View.of(sums(rows, columns)));
    }
    float[] total = new float[columns + 1];
    communicator.allReduce(addends, View.of(total));
    float[] means = new float[columns];
    for (int c = 0; c < columns; c++) {
      means[c] = total[c] / total[columns];
    }
    return means;
  }

  /** The sums of the columns in the order of the rows; behind them the number of rows. */
  private static float[] sums(List<LabelledRow> rows, int columns) {
    float[] sums = new float[columns + 1];
    for (LabelledRow row : rows) {
      for (int c = 0; c < columns; c++) {
        sums[c] += row.features()[c];
      }
      sums[columns]++;
    }
    return sums;
  }
}
