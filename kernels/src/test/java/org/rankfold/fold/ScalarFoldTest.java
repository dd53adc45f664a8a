// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.digest.GoldenTable;

class ScalarFoldTest {
  @ParameterizedTest
  @EnumSource(TestMemory.class)
  void shouldReachEveryGoldenRow(TestMemory memory) {
    assertThat(GoldenTable.builtIn()).hasSize(732);
    assertThat(GoldenFolds.wrongRows(new ScalarFold(), memory)).isEmpty();
  }
}
