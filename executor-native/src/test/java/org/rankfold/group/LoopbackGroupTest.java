// SPDX-License-Identifier: Apache-2.0
package org.rankfold.group;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rankfold.view.View;

class LoopbackGroupTest {
  @Test
  void shouldSum() {
    List<Float> sums =
        LoopbackGroup.run(
            3,
            communicator -> {
              float[] x = {communicator.info().task() + 1};
              communicator.allReduce(List.of(View.of(x)), View.of(x));
              return x[0];
            });
    assertEquals(List.of(6f, 6f, 6f), sums);
  }
}
