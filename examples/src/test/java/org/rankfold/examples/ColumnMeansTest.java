// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rankfold.digest.BitDigest;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.view.View;

/** How rank code is tested without Spark: a LoopbackGroup, real collectives, the cluster's bits. */
class ColumnMeansTest {
  private static final int WORLD = 8;

  @Test
  void shouldBeTheMeansWhenNumbersAreSmall() {
    List<float[]> means =
        LoopbackGroup.run(
            3,
            communicator -> {
              int rank = communicator.info().task();
              LabelledRow row = new LabelledRow(rank, new float[] {rank, 2 * rank}, 0);
              return ColumnMeans.of(communicator, List.of(List.of(row)), 2);
            });
    assertArrayEquals(new float[] {1, 2}, means.get(0));
    assertArrayEquals(means.get(0), means.get(2));
  }

  @Test
  void shouldBeTheSameBitsWhateverHostsTheRanks() {
    String once = digest(LoopbackGroup.of(WORLD, 1), 1);
    assertEquals(once, digest(LoopbackGroup.of(WORLD, 3), 1));
    assertEquals(once, digest(LoopbackGroup.of(WORLD, 8).path(PathRule.STAGED), 1));
  }

  @Test
  void shouldShowWhenRowsReachOtherRanks() {
    assertNotEquals(digest(LoopbackGroup.of(WORLD, 2), 1), digest(LoopbackGroup.of(WORLD, 2), 3));
  }

  /** The digest of the means of thirds, which round, dealt to ranks in one or another way. */
  private static String digest(LoopbackGroup group, int stride) {
    List<String> digests =
        group.run(
            communicator -> {
              List<List<LabelledRow>> rowsByRank = new ArrayList<>();
              int first = communicator.info().firstRank();
              for (int r = first; r < first + communicator.info().rankCount(); r++) {
                rowsByRank.add(rowsOf(r, stride));
              }
              return BitDigest.of(View.of(ColumnMeans.of(communicator, rowsByRank, 4)));
            });
    assertEquals(1, digests.stream().distinct().count(), digests::toString);
    return digests.get(0);
  }

  private static List<LabelledRow> rowsOf(int rank, int stride) {
    List<LabelledRow> rows = new ArrayList<>();
    for (int id = 0; id < 1000; id++) {
      if (id * stride % WORLD == rank) {
        float third = (id + 1) / 3f;
        float[] features = {third, 1 / third, third * third, third * 1e-7f};
        rows.add(new LabelledRow(id, features, 0));
      }
    }
    return rows;
  }
}
