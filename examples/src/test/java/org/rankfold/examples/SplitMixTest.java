// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

final class SplitMixTest {
  @Test
  void shouldGiveThePublishedWordsWhenSeedIs1234567() {
    SplitMix stream = new SplitMix(1234567);
    assertEquals("6457827717110365317", Long.toUnsignedString(stream.word()));
    assertEquals("3203168211198807973", Long.toUnsignedString(stream.word()));
    assertEquals("9817491932198370423", Long.toUnsignedString(stream.word()));
  }

  @Test
  void shouldSpanItsRangeWhenWordsAreExtreme() {
    assertEquals(-1.0f, SplitMix.signedUnit(0L));
    assertEquals(Math.nextDown(1.0f) - 0x1p-24f, SplitMix.signedUnit(-1L));
    assertEquals(0.0f, SplitMix.signedUnit(Long.MIN_VALUE));
  }

  @Test
  void shouldTakeWordsAsUnsignedWhenBounded() {
    SplitMix words = new SplitMix(3);
    SplitMix bounded = new SplitMix(3);
    for (int i = 0; i < 1000; i++) {
      long expected = Long.remainderUnsigned(words.word(), 7);
      assertEquals(expected, bounded.below(7));
    }
    assertThrows(IllegalArgumentException.class, () -> bounded.below(0));
  }
}
