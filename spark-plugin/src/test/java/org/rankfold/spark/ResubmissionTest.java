// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCategory;
import org.rankfold.errors.ErrorCode;

class ResubmissionTest {
  private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

  private final Map<String, String> settings =
      new HashMap<>(
          Map.of("spark.rankfold.retry.wait", "1us", "spark.rankfold.retry.attempts", "2"));

  private Resubmission attempts() {
    return new Resubmission("run", ConfigSource.of(settings), 0);
  }

  private static CollectiveException failure(ErrorCode code, String text) {
    return new CollectiveException(code, text);
  }

  private static CollectiveException thrown(
      Resubmission attempts, CollectiveException failure, boolean isStopped, long nowNs) {
    attempts.next();
    return catchThrowableOfType(
        CollectiveException.class, () -> attempts.onFailure(failure, isStopped, nowNs));
  }

  @ParameterizedTest
  @EnumSource
  void shouldTryAgainWhenTheClusterFailedAndNeverElse(ErrorCode code) {
    CollectiveException failure = failure(code, "text");
    boolean again = thrown(attempts(), failure, false, 0) == null;
    boolean isCluster =
        switch (code) {
          case PEER_FAILED, PROTOCOL, BOOTSTRAP_FAILED, STALE_GROUP, INTERNAL, DEVICE_CALL_FAILED ->
              true;
          default -> false;
        };
    assertThat(again).isEqualTo(isCluster);
    assertThat(!again || code.category() == ErrorCategory.GROUP_LOST).isTrue();
  }

  @Test
  void shouldTellTheFirstCauseFirstWhenAttemptsRunOut() {
    Resubmission attempts = attempts();
    CollectiveException first = failure(ErrorCode.PEER_FAILED, "one died");
    CollectiveException second = failure(ErrorCode.BOOTSTRAP_FAILED, "none came");
    CollectiveException third = failure(ErrorCode.PEER_FAILED, "another died");
    assertThat(thrown(attempts, first, false, 0)).isNull();
    assertThat(attempts.current()).isEqualTo(1);
    assertThat(thrown(attempts, second, false, 0)).isNull();
    assertThat(thrown(attempts, third, false, 0))
        .hasMessage(
            "one died (attempt 1 of 3; attempt 2: BOOTSTRAP_FAILED: none came; attempt 3:"
                + " PEER_FAILED: another died)")
        .hasCause(first)
        .hasSuppressedException(second)
        .hasSuppressedException(third)
        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.PEER_FAILED));
  }

  @Test
  void shouldThrowWhatHappenedUnchangedWhenThereWasOneAttempt() {
    CollectiveException usage = failure(ErrorCode.COUNT_MISMATCH, "rank=1 length=9");
    assertThat(thrown(attempts(), usage, false, 0)).isSameAs(usage);
    settings.put("spark.rankfold.retry.attempts", "0");
    CollectiveException lost = failure(ErrorCode.PEER_FAILED, "one died");
    assertThat(thrown(attempts(), lost, false, 0)).isSameAs(lost);
  }

  @Test
  void shouldNotTryAgainWhenTheApplicationHasEndedOrTheRunsTimeIsUp() {
    CollectiveException lost = failure(ErrorCode.PEER_FAILED, "one died");
    assertThat(thrown(attempts(), lost, true, 0)).isSameAs(lost);
    settings.put("spark.rankfold.timeout.run", "1h");
    assertThat(thrown(attempts(), lost, false, HOUR_NS)).isSameAs(lost);
    assertThat(thrown(attempts(), lost, false, HOUR_NS / 2)).isNull();
  }

  @Test
  void shouldSayBothWhenInterruptedBeforeTheNextAttempt() {
    Thread.currentThread().interrupt();
    CollectiveException e =
        thrown(attempts(), failure(ErrorCode.PEER_FAILED, "one died"), false, 0);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(e).hasMessageStartingWith("one died (attempt 1 of 3; attempt 2: CANCELLED: ");
  }
}
