// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlotsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "local | 1 | 1",
        "local[4] | 1 | 4",
        "local[4] | 3 | 1",
        "local[*] | 1 | 2",
        "local[4,2] | 1 | 4",
        "local-cluster[2,3,1024] | 2 | 2",
        "yarn | 1 | -1"
      })
  void shouldCountWhatTheMasterSays(String master, String cpus, int expected) {
    SparkConf conf = new SparkConf(false).set("spark.task.cpus", cpus);
    assertThat(Slots.of(conf, master, 2).count()).isEqualTo(expected);
  }

  @Test
  void shouldCountInstancesWhenBothAreNamed() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.executor.instances", "3")
            .set("spark.executor.cores", "5")
            .set("spark.task.cpus", "2");
    Slots slots = Slots.of(conf, "spark://host:7077", 2);
    assertThat(slots.canHold(6)).isTrue();
    assertThatThrownBy(() -> slots.require(7))
        .hasMessageStartingWith(
            "tasks=7 > slots=6: spark.executor.instances=3 x (spark.executor.cores=5 /"
                + " spark.task.cpus=2) = 6");
  }

  @Test
  void shouldTellLocalModeFromALocalCluster() {
    assertThat(Slots.isLocal("local[*]")).isTrue();
    assertThat(Slots.isLocal("local-cluster[1,1,1024]")).isFalse();
  }
}
