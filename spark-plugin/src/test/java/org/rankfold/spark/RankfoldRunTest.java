// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.rankfold.view.View;

class RankfoldRunTest {
  @Test
  void shouldSum() {
    SparkConf conf =
        new SparkConf().setMaster("local[4]").setAppName("test").set("spark.ui.enabled", "false");
    try (JavaSparkContext sc = new JavaSparkContext(conf)) {
      List<Float> sums =
          Rankfold.on(sc)
              .world(8)
              .tasks(3)
              .run(
                  context -> {
                    List<View> addends = new ArrayList<>();
                    for (int r = 0; r < context.rankCount(); r++) {
                      addends.add(View.of(new float[] {context.firstRank() + r + 1}));
                    }
                    float[] out = new float[1];
                    context.communicator().allReduce(addends, View.of(out));
                    return out[0];
                  });
      assertThat(sums).containsExactly(36f, 36f, 36f);
    }
  }
}
