// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsReviewTest {
  private static final String CLUSTER = "spark://host:7077";

  @ParameterizedTest
  @CsvSource({
    "spark.dynamicAllocation.enabled,true,true",
    "spark.rankfold.unheard.of,1,false",
    "spark.rankfold.chunk.bytes,much,true"
  })
  void shouldFindASettingWhenItFailsGroups(String key, String value, boolean refuses) {
    SparkConf conf = new SparkConf(false).set(key, value);
    assertThat(SettingsReview.of(conf, CLUSTER))
        .singleElement()
        .matches(finding -> finding.text().startsWith(key), "names the key")
        .matches(finding -> finding.refuses() == refuses, "refuses");
  }

  @Test
  void shouldFindNothingWhenALocalMasterIgnoresOrNeedsNoSetting() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.dynamicAllocation.enabled", "true")
            .set("spark.network.crypto.enabled", "true");
    assertThat(SettingsReview.of(conf, "local[2]")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"spark.network.crypto.enabled", "spark.ssl.rpc.enabled"})
  void shouldFindNothingWhenSparkEncrypts(String key) {
    SparkConf conf = new SparkConf(false).set(key, "true");
    assertThat(SettingsReview.of(conf, CLUSTER)).isEmpty();
  }

  @Test
  void shouldRefuseTaskResourcesWhenTheMasterIsLocal() {
    SparkConf conf = new SparkConf(false).set("spark.task.resource.gpu.amount", "1");
    assertThat(SettingsReview.of(conf, "local[2]"))
        .singleElement()
        .matches(SettingsReview.Finding::refuses, "would wait for ever");
    assertThat(SettingsReview.of(conf, CLUSTER)).isEmpty();
  }

  @Test
  void shouldNameTheClassWhenTheSessionIsOneOfConnect() {
    assertThatThrownBy(
            () -> Preflight.requireClassicName("org.apache.spark.sql.connect.SparkSession"))
        .hasMessageStartingWith("session=org.apache.spark.sql.connect.SparkSession");
    Preflight.requireClassicName("org.apache.spark.sql.classic.SparkSession");
  }
}
