// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.spark.SeedStream;

/** A row to learn from: a line's point, or a class' features. */
record Sample(long id, double first, double second, int label) implements Serializable {
  /** Rows whose sums depend on their order: values of many magnitudes and both signs. */
  static List<Sample> many(int rows) {
    SeedStream numbers = SeedStream.of(7, 0);
    List<Sample> samples = new ArrayList<>();
    for (int id = 0; id < rows; id++) {
      double first = (numbers.nextDouble() - 0.5) * StrictMath.pow(2, numbers.nextInt(5));
      double second = numbers.nextDouble() - 0.5;
      samples.add(new Sample(id, first, second, first + 2 * second > 0 ? 1 : 0));
    }
    return samples;
  }
}
