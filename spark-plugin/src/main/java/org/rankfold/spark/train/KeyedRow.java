// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;

/** A row on its way to its logical rank. No record: Spark's Kryo cannot write those. */
final class KeyedRow<R> implements Serializable {
  private static final long serialVersionUID = 1L;

  private final int rank;
  private final boolean heldOut;
  private final RowKey key;

  @SuppressWarnings("serial") // the caller's own, for the application's serializer
  private final R row;

  KeyedRow(int rank, boolean heldOut, RowKey key, R row) {
    this.rank = rank;
    this.heldOut = heldOut;
    this.key = key;
    this.row = row;
  }

  /** Where it belongs. */
  int rank() {
    return rank;
  }

  /** Whether it is for evaluation, not for training. */
  boolean heldOut() {
    return heldOut;
  }

  /** What it is known by. */
  RowKey key() {
    return key;
  }

  /** The row itself. */
  R row() {
    return row;
  }
}
