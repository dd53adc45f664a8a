// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;

class SeedStreamTest {
  /** The first outputs of SplitMix64 from state 1234567, as published with the algorithm. */
  @Test
  void shouldBeSplitMix64WhenDrawnFromAKnownState() {
    SeedStream stream = new SeedStream(1234567);
    assertThat(Long.toUnsignedString(stream.nextLong())).isEqualTo("6457827717110365317");
    assertThat(Long.toUnsignedString(stream.nextLong())).isEqualTo("3203168211198807973");
    assertThat(Long.toUnsignedString(stream.nextLong())).isEqualTo("9817491932198370423");
  }

  @Test
  void shouldGiveEveryRankSeedAndChildAStreamOfItsOwn() {
    Set<Long> firsts = new HashSet<>();
    for (int seed = 0; seed < 10; seed++) {
      for (int rank = 0; rank < 10; rank++) {
        firsts.add(SeedStream.of(seed, rank).nextLong());
        for (int epoch = 0; epoch < 10; epoch++) {
          firsts.add(SeedStream.of(seed, rank).child(epoch).nextLong());
        }
      }
    }
    assertThat(firsts).hasSize(1100);
  }

  @Test
  void shouldGiveTheSameChildWhenSomethingWasDrawnBefore() {
    SeedStream stream = SeedStream.of(1, 2);
    long before = stream.child(3).nextLong();
    stream.nextLong();
    assertThat(stream.child(3).nextLong()).isEqualTo(before);
  }

  @Test
  void shouldStayInRangeWhenBounded() {
    SeedStream stream = SeedStream.of(0, 0);
    int[] counts = new int[3];
    for (int i = 0; i < 30_000; i++) {
      counts[stream.nextInt(3)]++;
      assertThat(stream.nextDouble()).isGreaterThanOrEqualTo(0).isLessThan(1);
      assertThat(stream.nextFloat()).isGreaterThanOrEqualTo(0).isLessThan(1);
    }
    for (int count : counts) {
      assertThat(count).isBetween(9_500, 10_500);
    }
    assertThatThrownBy(() -> stream.nextInt(0)).isInstanceOf(CollectiveException.class);
  }
}
