// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.view.View;

/** Small integers as floats: every sum of them is exact, so a test can say what it must be. */
final class Rows {
  private Rows() {}

  /** Element i of logical rank r is 100 r + i. */
  static float[] row(int rank, int n) {
    float[] row = new float[n];
    for (int i = 0; i < n; i++) {
      row[i] = 100 * rank + i;
    }
    return row;
  }

  /** The sum of all ranks' rows. */
  static float[] sum(int world, int n) {
    float[] sum = new float[n];
    for (int i = 0; i < n; i++) {
      sum[i] = 100 * (world * (world - 1) / 2) + world * i;
    }
    return sum;
  }

  /** A view for each logical rank the task hosts. */
  static List<View> views(CommunicatorInfo info, IntFunction<float[]> ofRank) {
    List<View> views = new ArrayList<>();
    for (int r = 0; r < info.rankCount(); r++) {
      views.add(View.of(ofRank.apply(info.firstRank() + r)));
    }
    return views;
  }

  static List<View> views(CommunicatorInfo info, int n) {
    return views(info, rank -> row(rank, n));
  }
}
