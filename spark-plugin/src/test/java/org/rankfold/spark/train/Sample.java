// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.spark.SeedStream;

/** A row to learn from: a line's point, or a class' features; no record, for Kryo's sake. */
final class Sample implements Serializable {
  private static final long serialVersionUID = 1L;

  private final long id;
  private final double first;
  private final double second;
  private final int label;

  Sample(long id, double first, double second, int label) {
    this.id = id;
    this.first = first;
    this.second = second;
    this.label = label;
  }

  long id() {
    return id;
  }

  double first() {
    return first;
  }

  double second() {
    return second;
  }

  int label() {
    return label;
  }

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
