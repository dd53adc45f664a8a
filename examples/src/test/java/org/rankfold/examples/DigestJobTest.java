// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.digest.GoldenRow;
import org.rankfold.digest.GoldenTable;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.transport.loopback.PathRule;

class DigestJobTest {
  /** A part of the table in every type and order; integration-tests run all of it. */
  private static final List<GoldenRow> ROWS =
      GoldenTable.builtIn().stream().filter(row -> row.n() < 3000).toList();

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DEVICE")
  void shouldGiveTheOraclesDigestsOnEveryTask(MemoryKind memory) {
    for (GoldenRow row : ROWS) {
      int world = row.contract().world();
      int tasks = Math.min(3, world);
      List<String> digests =
          LoopbackGroup.of(world, tasks)
              .path(PathRule.MIXED)
              .run(communicator -> DigestJob.digest(communicator, row, memory));
      assertThat(digests).as(row.describe()).isEqualTo(Collections.nCopies(tasks, row.sha256()));
    }
  }

  @Test
  void shouldNameTheSettingWhenTheGroupHasNoDevices() {
    assertThatThrownBy(
            () ->
                LoopbackGroup.run(
                    3,
                    communicator -> DigestJob.digest(communicator, ROWS.get(0), MemoryKind.DEVICE)))
        .isInstanceOfSatisfying(
            CollectiveException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
        .hasMessageContaining("spark.rankfold.device=gpu");
  }

  @Test
  void shouldRefuseRowsThatDifferBetweenTasks() {
    GoldenRow one = ROWS.get(0);
    GoldenRow other =
        ROWS.stream()
            .filter(row -> row.contract().dtype() != one.contract().dtype())
            .findFirst()
            .orElseThrow();
    assertThatThrownBy(
            () ->
                LoopbackGroup.run(
                    2,
                    communicator ->
                        DigestJob.digest(
                            communicator,
                            communicator.info().task() == 0 ? one : other,
                            MemoryKind.HEAP)))
        .isInstanceOfSatisfying(
            CollectiveException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.CONTRACT_MISMATCH));
  }
}
