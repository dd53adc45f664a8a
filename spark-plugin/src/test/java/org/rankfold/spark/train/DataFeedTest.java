// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** From keys to ranks to steps. */
class DataFeedTest {
  private static final int[] PINNED = {0, 1, 2, 4, 7, 6, 3, 5};

  @Test
  void shouldDealEveryRowToOneStepWhenRanksDiffer() {
    long[][] worlds = {{5}, {0, 0, 1}, {7, 7, 7}, {3, 0, 10, 1, 99}, {1, 2, 3, 4, 5, 6, 7, 8}};
    for (long[] counts : worlds) {
      for (int batch : new int[] {1, 2, 3, 7, 50, 1000}) {
        BatchPlan plan = new BatchPlan(counts, batch);
        long dealt = 0;
        for (long step = 0; step < plan.steps(); step++) {
          long rows = 0;
          for (int rank = 0; rank < counts.length; rank++) {
            int share = plan.before(rank, step + 1) - plan.before(rank, step);
            assertThat(share).isNotNegative();
            double even = counts[rank] * (double) plan.rowsOf(step) / plan.rows();
            assertThat((double) share).isBetween(even - 2, even + 2);
            rows += share;
          }
          assertThat(rows).isEqualTo(plan.rowsOf(step));
          assertThat(rows).isEqualTo(step + 1 < plan.steps() ? batch : plan.rows() - dealt);
          dealt += rows;
        }
        assertThat(dealt).isEqualTo(Arrays.stream(counts).sum());
      }
    }
  }

  @Test
  void shouldDealWithoutOverflowWhenRanksAreHuge() {
    BatchPlan plan = new BatchPlan(new long[] {Integer.MAX_VALUE - 8, Integer.MAX_VALUE - 9}, 1000);
    assertThat(plan.before(0, plan.steps())).isEqualTo(Integer.MAX_VALUE - 8);
    assertThat(plan.before(1, plan.steps())).isEqualTo(Integer.MAX_VALUE - 9);
    assertThat(plan.before(0, 10) + plan.before(1, 10)).isEqualTo(10_000);
  }

  @Test
  void shouldShuffleByNothingButSeedEpochAndRank() {
    assertThat(EpochOrder.of(42, 1, 3, 8)).containsExactly(PINNED);
    assertThat(EpochOrder.of(42, 2, 3, 8)).isNotEqualTo(PINNED);
    assertThat(EpochOrder.of(42, 1, 4, 8)).isNotEqualTo(PINNED);
    assertThat(EpochOrder.of(43, 1, 3, 8)).isNotEqualTo(PINNED);
    assertThat(EpochOrder.of(42, 1, 3, 0)).isEmpty();
  }

  @Test
  void shouldOrderKeysAsTheirValues() {
    List<RowKey> ascending =
        List.of(
            RowKey.of((String) null),
            RowKey.of(Long.MIN_VALUE),
            RowKey.of(-1),
            RowKey.of(-1).then(RowKey.of("a")),
            RowKey.of(0),
            RowKey.of(1),
            RowKey.of(1).then(RowKey.of("")),
            RowKey.of(256),
            RowKey.of(""),
            RowKey.of("\0"),
            RowKey.of("\0\0"),
            RowKey.of("a"),
            RowKey.of("a").then(RowKey.of("z")),
            RowKey.of("a\0"),
            RowKey.of("ab"),
            RowKey.of(new byte[] {1}),
            RowKey.ofValue(Double.NEGATIVE_INFINITY),
            RowKey.ofValue(-1.5),
            RowKey.ofValue(-0.0),
            RowKey.ofValue(0.0f),
            RowKey.ofValue(2.5),
            RowKey.ofValue(Double.NaN));
    for (int i = 0; i < ascending.size(); i++) {
      for (int j = 0; j < ascending.size(); j++) {
        assertThat(Integer.signum(ascending.get(i).compareTo(ascending.get(j))))
            .as("%s and %s", ascending.get(i), ascending.get(j))
            .isEqualTo(Integer.compare(i, j));
      }
    }
  }

  @Test
  void shouldGiveOneKeyWhenTypesHoldOneValue() {
    assertThat(RowKey.ofValue(7)).isEqualTo(RowKey.of(7)).isEqualTo(RowKey.ofValue((short) 7));
    assertThat(RowKey.ofValue(new BigDecimal("1.50"))).isEqualTo(RowKey.of("1.5"));
    Instant instant = Instant.ofEpochSecond(12, 345_000);
    assertThat(RowKey.ofValue(Timestamp.from(instant))).isEqualTo(RowKey.ofValue(instant));
    assertThat(RowKey.ofValue(List.of())).isNull();
    assertThat(RowKey.of(-7).then(RowKey.of("a\0b")).then(RowKey.ofValue(-2.5)))
        .hasToString("(-7, 'a\0b', -2.5)");
  }

  @Test
  void shouldPlaceKeysAsWritten() {
    // Once by hand: FNV-1a, the finaliser, the remainder.
    byte[] bytes = "\2abc\0\0".getBytes(StandardCharsets.ISO_8859_1);
    long h = -3750763034362895579L;
    for (byte b : bytes) {
      h = (h ^ b) * 1099511628211L;
    }
    h = (h ^ (h >>> 30)) * 0xbf58476d1ce4e5b9L;
    h = (h ^ (h >>> 27)) * 0x94d049bb133111ebL;
    h ^= h >>> 31;
    assertThat(RowKey.of("abc").rank(1000)).isEqualTo((int) Long.remainderUnsigned(h, 1000));

    int[] rows = new int[8];
    IntStream.range(0, 8000).forEach(id -> rows[RowKey.of(id).rank(8)]++);
    assertThat(Arrays.stream(rows).boxed().toList())
        .allSatisfy(n -> assertThat(n).isBetween(850, 1150));
  }

  @Test
  void shouldSortAShareWhateverOrderRowsCameIn() {
    RankShare<String> share = new RankShare<>();
    for (int id : new int[] {3, -1, 2, 0, 2}) {
      share.add(new KeyedRow<>(0, false, RowKey.of(id), "row " + id));
    }
    assertThat(share.sorted()).containsExactly("row -1", "row 0", "row 2", "row 2", "row 3");
  }

  @Test
  void shouldRefuseAShareWhenAKeyHasTwoRows() {
    RankShare<String> share = new RankShare<>();
    share.add(new KeyedRow<>(4, false, RowKey.of(2), "a"));
    share.add(new KeyedRow<>(4, false, RowKey.of(1), "b"));
    share.add(new KeyedRow<>(4, false, RowKey.of(2), "c"));
    assertThatThrownBy(share::sorted)
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.UNORDERED_DATA))
        .hasMessageStartingWith("key (2) belongs to two different rows: a and c");
  }

  @Test
  void shouldFindTheCommonFolder() {
    List<String> none = new ArrayList<>();
    assertThat(FilePositions.commonFolder(none)).isZero();
    assertThat(FilePositions.commonFolder(List.of("file:///a/b/c.csv"))).isEqualTo(12);
    assertThat(FilePositions.commonFolder(List.of("file:///a/b/x/c", "file:///a/bb/c")))
        .isEqualTo("file:///a/".length());
    assertThat(FilePositions.commonFolder(List.of("a:/x", "b:/x"))).isZero();
  }
}
