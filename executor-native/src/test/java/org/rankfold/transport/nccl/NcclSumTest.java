// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;

class NcclSumTest {
  @Test
  void shouldKnowEveryTypeByAnotherNumber() {
    assertThat(Arrays.stream(DType.values()).map(NcclSum::type)).doesNotHaveDuplicates();
    assertThat(NcclSum.type(DType.F32)).isEqualTo(7);
    assertThat(NcclSum.type(DType.BF16)).isEqualTo(9);
  }

  @Test
  void shouldSayThatItIsUnordered() {
    assertThat(NcclSum.LABEL).contains("unordered");
  }
}
