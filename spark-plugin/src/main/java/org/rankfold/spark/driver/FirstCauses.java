// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.util.AccumulatorV2;
import org.rankfold.InternalApi;
import scala.Option;

/**
 * Brings failures from tasks to the driver as an accumulator that counts failed tasks too: Spark
 * merges it before it fails the job, so the note is there when the job's exception is thrown.
 */
@InternalApi
public final class FirstCauses extends AccumulatorV2<FailureNote, List<FailureNote>> {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // always an ArrayList
  private List<FailureNote> notes = new ArrayList<>();

  private FirstCauses() {}

  /**
   * A new accumulator of an application.
   *
   * @param spark the application
   * @return without notes
   */
  public static FirstCauses register(SparkContext spark) {
    FirstCauses causes = new FirstCauses();
    causes.register(spark, Option.empty(), true);
    return causes;
  }

  /**
   * What arrived first.
   *
   * @return a note, or empty when no task left one
   */
  public synchronized Optional<FailureNote> first() {
    return notes.stream().findFirst();
  }

  @Override
  public synchronized boolean isZero() {
    return notes.isEmpty();
  }

  @Override
  public synchronized FirstCauses copy() {
    FirstCauses copy = new FirstCauses();
    copy.notes.addAll(notes);
    return copy;
  }

  @Override
  public synchronized void reset() {
    notes.clear();
  }

  @Override
  public synchronized void add(FailureNote note) {
    notes.add(note);
  }

  @Override
  public synchronized void merge(AccumulatorV2<FailureNote, List<FailureNote>> other) {
    notes.addAll(other.value());
  }

  @Override
  public synchronized List<FailureNote> value() {
    return List.copyOf(notes);
  }
}
