// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class HalfRoundingTest {
  @Test
  void shouldGiveBackEveryHalfWhenItIsAFloatAlready() {
    for (int h = 0; h < 1 << 16; h++) {
      float f16 = NaiveReduction.f16((short) h);
      assertEquals(Float.isNaN(f16) ? 0x7e00 : h, HalfRounding.f16(f16) & 0xffff);
      float bf16 = NaiveReduction.bf16((short) h);
      assertEquals(Float.isNaN(bf16) ? 0x7fc0 : h, HalfRounding.bf16(bf16) & 0xffff);
    }
  }

  @Test
  void shouldRoundToNearestEvenWhenBetweenTwoF16() {
    for (int h = 0; h < 0x7bff; h++) {
      double low = NaiveReduction.f16((short) h);
      float half = (float) ((low + NaiveReduction.f16((short) (h + 1))) / 2);
      assertEquals((h + 1) & ~1, HalfRounding.f16(half), "tie above " + Integer.toHexString(h));
      assertEquals(h, HalfRounding.f16(Math.nextDown(half)));
      assertEquals(h + 1, HalfRounding.f16(Math.nextUp(half)));
    }
    assertEquals(0x7bff, HalfRounding.f16(Math.nextDown(65520f)));
    assertEquals(0x7c00, HalfRounding.f16(65520f));
    assertEquals((short) 0xfc00, HalfRounding.f16(-Float.MAX_VALUE));
  }

  @Test
  void shouldRoundToNearestEvenWhenBetweenTwoBf16() {
    for (int h = 0; h < 0x7f80; h++) {
      int tie = h << 16 | 0x8000;
      assertEquals((h + 1) & ~1, HalfRounding.bf16(Float.intBitsToFloat(tie)));
      assertEquals(h, HalfRounding.bf16(Float.intBitsToFloat(tie - 1)));
      assertEquals(h + 1, HalfRounding.bf16(Float.intBitsToFloat(tie + 1)));
    }
  }
}
