// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class ScalaReleaseTest {
  @Test
  void shouldAcceptTheScalaOfThisBuild() {
    assertDoesNotThrow(() -> ScalaRelease.require());
    assertDoesNotThrow(() -> ScalaRelease.require("2.13.8"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"2.12.18", "2.130.1", "3.3.1"})
  void shouldNameBothVersionsWhenScalaIsAnother(String found) {
    CollectiveException refused =
        assertThrows(CollectiveException.class, () -> ScalaRelease.require(found));
    assertEquals(ErrorCode.UNSUPPORTED, refused.code());
    assertThat(refused.getMessage())
        .isEqualTo(
            "Rankfold needs Spark for Scala 2.13: scala="
                + found
                + " != 2.13.x; take a Spark whose jars end in _2.13");
  }
}
