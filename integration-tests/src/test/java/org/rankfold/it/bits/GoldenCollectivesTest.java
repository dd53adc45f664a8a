// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bits;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.digest.BitDigest;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.transport.loopback.DeliveryOrder;
import org.rankfold.transport.loopback.PathRule;
import org.rankfold.view.View;

/**
 * Every row of the oracle's table through whole all-reduces, on every number of tasks to 8 and
 * every path. Delivery orders, chunks and layouts go round with the rows, so that each meets every
 * type. Small rows meet chunks of one element too, the smallest of them in all orders.
 */
class GoldenCollectivesTest {
  private static final int MOST_TASKS = 8;
  private static final int SMALL = 7 * 1009;
  private static final int SMALLEST = 1000;
  private static final int MOST_DELIVERIES = 256;
  private static final int[] CHUNK_BYTES = {1, 24, 100, 1000, 4096, 10_000, 65_536};
  private static final List<DeliveryOrder> ORDERS =
      List.of(
          DeliveryOrder.ARRIVAL,
          DeliveryOrder.parse("ascending"),
          DeliveryOrder.parse("descending"),
          DeliveryOrder.parse("shuffled:7"));
  private static final List<Layout> LAYOUTS = List.of(Layout.values());
  private static final List<GoldenRow> ROWS = GoldenTable.builtIn();

  @ParameterizedTest
  @EnumSource
  void shouldReachEveryGoldenDigestOnAnyNumberOfTasks(PathRule path) {
    List<String> wrong = new ArrayList<>();
    int variants = 0;
    for (int index = 0; index < ROWS.size(); index++) {
      GoldenRow row = ROWS.get(index);
      RowInputs inputs = new RowInputs(row, LAYOUTS.get(index % LAYOUTS.size()));
      Bits golden = null;
      for (int tasks = 1; tasks <= Math.min(MOST_TASKS, row.contract().world()); tasks++) {
        DeliveryOrder order = ORDERS.get((index + tasks) % ORDERS.size());
        LoopbackGroup group =
            LoopbackGroup.of(row.contract().world(), tasks)
                .path(path)
                .delivery(order)
                .chunkBytes(chunkBytes(row, index / 4 + tasks));
        golden = check(group, row, inputs, golden, path + " tasks=" + tasks + " " + order, wrong);
        variants++;
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(ROWS).hasSize(732);
    assertThat(variants).isGreaterThan(ROWS.size() * 4);
  }

  @ParameterizedTest
  @EnumSource
  void shouldReachGoldenDigestsWithChunksOfOneElement(PathRule path) {
    List<String> wrong = new ArrayList<>();
    Set<String> types = new TreeSet<>();
    for (int index = 0; index < ROWS.size(); index++) {
      GoldenRow row = ROWS.get(index);
      long elements = row.n() * row.contract().world();
      if (row.contract().world() < 3 || elements > SMALL) {
        continue;
      }
      types.add(row.contract().dtype().label());
      RowInputs inputs = new RowInputs(row, Layout.ODD);
      Bits golden = null;
      for (DeliveryOrder order : elements <= SMALLEST ? ORDERS : oneOf(ORDERS, index)) {
        LoopbackGroup group =
            LoopbackGroup.of(row.contract().world(), 3).path(path).delivery(order).chunkBytes(1);
        golden = check(group, row, inputs, golden, path + " " + order, wrong);
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(types).containsExactly("bf16", "f16", "f32", "f64", "i32", "i64");
  }

  @Test
  void shouldNoticeABitThatDiffers() {
    GoldenRow row = ROWS.get(ROWS.size() - 1);
    RowInputs inputs = new RowInputs(row, Layout.HEAP);
    View out = inputs.out(0);
    Bits zeros = Bits.of(out);
    inputs.all()[0].copyTo(out);
    assertThat(Bits.of(out).mismatch(zeros)).isNotEqualTo(-1);
    assertThat(Bits.of(out).mismatch(Bits.of(out))).isEqualTo(-1);
  }

  private static List<DeliveryOrder> oneOf(List<DeliveryOrder> orders, int turn) {
    return List.of(orders.get(turn % orders.size()));
  }

  /** Runs a row; the first right result stands for the digest from then on. */
  private static Bits check(
      LoopbackGroup group,
      GoldenRow row,
      RowInputs inputs,
      Bits golden,
      String variant,
      List<String> wrong) {
    List<View> outs =
        group.run(
            communicator -> {
              View out = inputs.out(communicator.info().task());
              communicator.allReduce(
                  row.contract().op(), row.contract().order(), inputs.of(communicator.info()), out);
              return out;
            });
    Bits expected = golden;
    for (View out : outs) {
      Bits result = Bits.of(out);
      if (expected == null && BitDigest.of(out).equals(row.sha256())) {
        expected = result;
      }
      if (expected == null || expected.mismatch(result) >= 0) {
        wrong.add(row.describe() + " " + variant);
        return golden;
      }
    }
    return expected;
  }

  /** A chunk size by turns, larger where the row would fall into too many pieces. */
  private static int chunkBytes(GoldenRow row, int turn) {
    int dtypeBytes = row.contract().dtype().bytes();
    for (int i = turn % CHUNK_BYTES.length; i < CHUNK_BYTES.length; i++) {
      long elements = Math.max(1, CHUNK_BYTES[i] / dtypeBytes);
      if (row.n() / elements * row.contract().world() <= MOST_DELIVERIES) {
        return CHUNK_BYTES[i];
      }
    }
    return CHUNK_BYTES[CHUNK_BYTES.length - 1];
  }
}
