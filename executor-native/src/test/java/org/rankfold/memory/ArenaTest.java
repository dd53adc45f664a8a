// SPDX-License-Identifier: Apache-2.0
package org.rankfold.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.DirectView;
import org.rankfold.view.View;

class ArenaTest {
  @Test
  void shouldPadToWholeAlignedShardsWhenTheCountIsOdd() {
    try (Arena arena = Arena.allocate(DType.F32, 100, 3)) {
      assertEquals(100, arena.view().count());
      assertEquals(144, arena.paddedCount());
      assertEquals(0, ((DirectView) arena.view()).address() % Arena.ALIGNMENT_BYTES);
    }
  }

  @Test
  void shouldShareMemoryBetweenBuffersAndViewsWhenBothAreUsed() {
    try (Arena arena = Arena.allocate(DType.F64, 3, 1)) {
      arena.doubles().put(1, 2.5);
      double[] copy = new double[3];
      arena.view().copyTo(View.of(copy));
      assertEquals(2.5, copy[1]);
    }
  }

  @Test
  void shouldBeEmptyWhenNoElementsAreAskedFor() {
    try (Arena arena = Arena.allocate(DType.BF16, 0, 4)) {
      assertEquals(0, arena.view().count());
    }
  }

  @Test
  void shouldRefuseWhenTypeSizeOrStateDoNotFit() {
    Arena arena = Arena.allocate(DType.F32, 4, 1);
    assertEquals(
        ErrorCode.CONTRACT_MISMATCH, assertThrows(CollectiveException.class, arena::longs).code());
    CollectiveException large =
        assertThrows(CollectiveException.class, () -> Arena.allocate(DType.F64, 1L << 40, 8));
    assertTrue(large.getMessage().contains("1099511627776"), large.getMessage());
    assertThrows(CollectiveException.class, () -> Arena.allocate(DType.F64, -1, 8));
    arena.close();
    arena.close();
    assertEquals(ErrorCode.CLOSED, assertThrows(CollectiveException.class, arena::view).code());
  }
}
