// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.rankfold.config.ConfigSource;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.spark.bootstrap.MemoryPlan.ArenaKind;
import org.rankfold.transport.RankTable;

class MemoryPlanTest {
  private static final long MIB = 1 << 20;
  private static final RankTable TABLE = new RankTable(4, 2);
  private static final MemoryPlan PLAN =
      new MemoryPlan(List.of(new ArenaKind(DType.F32, 8 * MIB / 4)));

  private static CollectiveException refusal(MemoryPlan plan, String path, MemoryLimits limits) {
    GroupConfig config =
        GroupConfig.of(
            ConfigSource.of(
                Map.of("spark.rankfold.path", path, "spark.rankfold.chunk.bytes", "1m")));
    return catchThrowableOfType(
        CollectiveException.class,
        () -> plan.require("here", TABLE, List.of(0, 1), config, limits, false));
  }

  @Test
  void shouldStateTheNumbersWhenDirectMemoryIsTooSmall() {
    CollectiveException e = refusal(PLAN, "mapped", new MemoryLimits(31 * MIB, 64 * MIB, -1));
    assertThat(e.code()).isEqualTo(ErrorCode.TOO_LITTLE_MEMORY);
    assertThat(e)
        .hasMessageStartingWith(
            "here: arenas of 4 logical ranks 32.0 MiB + slots 0.0 MiB = 32.0 MiB > 31.0 MiB of free"
                + " direct memory");
    assertThat(refusal(PLAN, "mapped", new MemoryLimits(33 * MIB, 64 * MIB, -1))).isNull();
  }

  @Test
  void shouldCountSlotsWhenPairsAreStaged() {
    assertThat(refusal(PLAN, "staged", new MemoryLimits(43 * MIB, 64 * MIB, -1)))
        .hasMessageContaining("32.0 MiB + slots 12.0 MiB = 44.0 MiB > 43.0 MiB");
    assertThat(refusal(PLAN, "staged", new MemoryLimits(45 * MIB, 64 * MIB, -1))).isNull();
  }

  @Test
  void shouldLookAtTheContainerWhenArenasAreDeclared() {
    MemoryLimits limits = new MemoryLimits(64 * MIB, 64 * MIB, 90 * MIB);
    assertThat(refusal(PLAN, "mapped", limits))
        .hasMessageContaining("with the heap's 64.0 MiB > the container's 90.0 MiB");
    assertThat(refusal(new MemoryPlan(List.of()), "mapped", limits)).isNull();
  }

  @Test
  void shouldCountArenasAndSlotsOfTheWholeHostWhenShared() {
    GroupConfig config =
        GroupConfig.of(ConfigSource.of(Map.of("spark.rankfold.chunk.bytes", "1m")));
    // Each task has (2 ranks + 3) slots for its only peer, and 4 for what all get alike.
    assertThat(new MemoryPlan(List.of()).sharedBytes(TABLE, config)).isEqualTo(2 * 9 * MIB);
    assertThat(PLAN.sharedBytes(TABLE, config)).isBetween(50 * MIB, 51 * MIB);
    PLAN.require("here", TABLE, List.of(0, 1), config, new MemoryLimits(1, 64 * MIB, -1), true);
  }

  @Test
  void shouldReadLimitsWhenWrittenAsKernelAndJvmDo() {
    assertThat(MemoryLimits.containerBytes("max\n")).isEqualTo(-1);
    assertThat(MemoryLimits.containerBytes("1073741824\n")).isEqualTo(1024 * MIB);
    assertThat(MemoryLimits.containerBytes("9223372036854771712")).isEqualTo(-1);
    assertThat(MemoryLimits.sizeBytes("512m", 1)).isEqualTo(512 * MIB);
    assertThat(MemoryLimits.sizeBytes("1048576", 1)).isEqualTo(MIB);
    assertThat(MemoryLimits.sizeBytes("0", 7)).isEqualTo(7);
    assertThat(MemoryLimits.own().heapMaxBytes()).isPositive();
  }
}
