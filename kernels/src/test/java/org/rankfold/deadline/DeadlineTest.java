// SPDX-License-Identifier: Apache-2.0
package org.rankfold.deadline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class DeadlineTest {
  @Test
  void shouldExpireAtItsPointAndStayExpired() {
    Deadline deadline = Deadline.after(1_000, 500);
    assertThat(deadline.isExpired(1_499)).isFalse();
    assertThat(deadline.remainingNs(1_499)).isEqualTo(1);
    assertThat(deadline.isExpired(1_500)).isTrue();
    assertThat(deadline.isExpired(9_999)).isTrue();
    assertThat(deadline.remainingNs(9_999)).isZero();
  }

  @Test
  void shouldHoldAcrossTheWrapOfTheClock() {
    long now = Long.MAX_VALUE - 10;
    Deadline deadline = Deadline.after(now, 100);
    assertThat(deadline.isExpired(now)).isFalse();
    assertThat(deadline.remainingNs(now)).isEqualTo(100);
    assertThat(deadline.isExpired(now + 99)).isFalse();
    assertThat(deadline.isExpired(now + 100)).isTrue();
  }

  @Test
  void shouldNotWrapIntoThePastWhenTheBudgetIsHuge() {
    Deadline deadline = Deadline.after(5, Long.MAX_VALUE);
    assertThat(deadline.isExpired(5)).isFalse();
    assertThat(deadline.isExpired(Long.MAX_VALUE / 4)).isFalse();
    assertThat(deadline.budgetNs()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void shouldSayItsBudgetInSeconds() {
    assertThat(Deadline.after(0, 1_500_000_000L).budgetSeconds()).isEqualTo(1.5);
  }

  @Test
  void shouldRefuseANegativeBudget() {
    assertThatThrownBy(() -> Deadline.after(0, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("budgetNs=-1 < 0");
  }

  @Test
  void shouldKeepTheFirstCauseWhenTrippedTwice() {
    AbortLatch latch = new AbortLatch();
    assertThat(latch.isTripped()).isFalse();
    assertThat(latch.cause()).isNull();
    CollectiveException first = new CollectiveException(ErrorCode.TIMEOUT, "first");
    CollectiveException second = new CollectiveException(ErrorCode.PEER_FAILED, "second");
    assertThat(latch.trip(first)).isSameAs(first);
    assertThat(latch.trip(second)).isSameAs(first);
    assertThat(latch.isTripped()).isTrue();
    assertThat(latch.cause()).isSameAs(first);
  }
}
