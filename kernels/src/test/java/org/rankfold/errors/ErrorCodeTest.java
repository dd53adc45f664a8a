// SPDX-License-Identifier: Apache-2.0
package org.rankfold.errors;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ErrorCodeTest {
  @Test
  void shouldHaveUniqueNumbers() {
    assertThat(Arrays.stream(ErrorCode.values()).map(ErrorCode::number)).doesNotHaveDuplicates();
  }

  @Test
  void shouldTellItsCategoryByItsHundreds() {
    for (ErrorCode code : ErrorCode.values()) {
      ErrorCategory expected =
          switch (code.number() / 100) {
            case 1 -> ErrorCategory.USAGE;
            case 2 -> ErrorCategory.GROUP_LOST;
            case 3 -> ErrorCategory.PROCESS_FATAL;
            default -> throw new AssertionError(code + " has number " + code.number());
          };
      assertThat(code.category()).as(code.name()).isEqualTo(expected);
    }
  }

  /** Numbers travel between versions: those here must never change. */
  @Test
  void shouldKeepItsNumbers() {
    assertThat(ErrorCode.INVALID_ARGUMENT.number()).isEqualTo(100);
    assertThat(ErrorCode.CONTRACT_MISMATCH.number()).isEqualTo(101);
    assertThat(ErrorCode.COUNT_MISMATCH.number()).isEqualTo(102);
    assertThat(ErrorCode.FLUSH_TO_ZERO.number()).isEqualTo(107);
    assertThat(ErrorCode.PEER_FAILED.number()).isEqualTo(200);
    assertThat(ErrorCode.TIMEOUT.number()).isEqualTo(201);
    assertThat(ErrorCode.MEMORY_STILL_BORROWED.number()).isEqualTo(300);
  }

  @Test
  void shouldBeFoundByItsNumberOrElseMeanProtocol() {
    for (ErrorCode code : ErrorCode.values()) {
      assertThat(ErrorCode.ofNumber(code.number())).isEqualTo(code);
    }
    assertThat(ErrorCode.ofNumber(9999)).isEqualTo(ErrorCode.PROTOCOL);
  }

  @Test
  void shouldMakeUsageErrorsThatSayNothingHappened() {
    CollectiveException e =
        CollectiveException.usage(ErrorCode.COUNT_MISMATCH, "length=%d != %d", 3, 4);
    assertThat(e).hasMessage("length=3 != 4");
    assertThat(e.outState()).isEqualTo(OutState.UNTOUCHED);
    assertThat(e.category()).isEqualTo(ErrorCategory.USAGE);
  }
}
