// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LaneFoldTest {
  @ParameterizedTest
  @EnumSource(TestMemory.class)
  void shouldReachEveryGoldenRow(TestMemory memory) {
    assertThat(GoldenFolds.wrongRows(Folds.named("lane-plain"), memory)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(TestMemory.class)
  void shouldReachEveryGoldenRowWithVectors(TestMemory memory) {
    assertThat(GoldenFolds.wrongRows(Folds.named("lane-vector"), memory)).isEmpty();
  }
}
