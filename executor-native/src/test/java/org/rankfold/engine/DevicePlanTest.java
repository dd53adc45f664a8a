// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.transport.CallHeader;
import org.rankfold.transport.CallKind;
import org.rankfold.transport.RankTable;

/** What travels between devices. */
class DevicePlanTest {
  private static final int CHUNK_BYTES = 1 << 10;
  private static final long LONG_COUNT = 1 << 20;

  @ParameterizedTest
  @CsvSource({
    "AUTO,   F32,  RANK_LEFT, 8, 3, CHAIN",
    "AUTO,   I64,  RANK_LEFT, 8, 4, CHAIN",
    "AUTO,   F32,  RANK_TREE, 8, 3, SUBTREES",
    "AUTO,   F64,  RANK_TREE, 8, 4, SUBTREES",
    "NEVER,  F32,  RANK_LEFT, 8, 3, ADDENDS",
    "ALWAYS, BF16, RANK_LEFT, 8, 2, ADDENDS",
    "ALWAYS, F16,  RANK_TREE, 8, 2, ADDENDS",
    "ALWAYS, F32,  RANK_LEFT, 3, 3, ADDENDS",
    "ALWAYS, F32,  RANK_LEFT, 8, 1, ADDENDS",
  })
  void shouldSendWhatIsLessWhenMemoryIsLong(
      PartialsRule rule, DType dtype, FoldOrder order, int world, int tasks, PartialPlan plan) {
    assertThat(plan(rule, dtype, order, world, tasks, LONG_COUNT)).isEqualTo(plan);
  }

  @ParameterizedTest
  @CsvSource({"AUTO, ADDENDS", "ALWAYS, CHAIN"})
  void shouldTakeAShortChainOnlyWhenToldTo(PartialsRule rule, PartialPlan plan) {
    int fills = 4 * 3 * DeviceFoldCall.chunkBytes(CHUNK_BYTES) / DType.F32.bytes();
    assertThat(plan(rule, DType.F32, FoldOrder.RANK_LEFT, 8, 3, fills - 1)).isEqualTo(plan);
    assertThat(plan(rule, DType.F32, FoldOrder.RANK_LEFT, 8, 3, fills))
        .isEqualTo(PartialPlan.CHAIN);
    assertThat(plan(rule, DType.F32, FoldOrder.RANK_LEFT, 8, 3, 0)).isEqualTo(PartialPlan.ADDENDS);
  }

  private static PartialPlan plan(
      PartialsRule rule, DType dtype, FoldOrder order, int world, int tasks, long count) {
    ReduceContract contract = new ReduceContract(dtype, ReduceOp.SUM, order, world);
    CallHeader header =
        new CallHeader(
            1,
            CallKind.ALL_REDUCE,
            contract,
            dtype,
            count,
            0,
            CHUNK_BYTES,
            CallHeader.ON_DEVICE,
            null,
            null);
    return PartialPlan.ofDevices(
        header, new RankTable(world, tasks), new EngineSettings(CHUNK_BYTES, 1, 1, rule));
  }
}
