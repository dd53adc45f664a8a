// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;
import org.apache.spark.sql.Row;

/**
 * Makes a training row of a Dataset's row.
 *
 * @param <R> a training row; serializable by Spark's serializer
 */
@FunctionalInterface
public interface RowDecoder<R> extends Serializable {
  /**
   * Decodes one row; a function of its argument alone.
   *
   * @param row the Dataset's columns; a Dataset read by file position has two more at the end
   * @return the training row, not null
   */
  R decode(Row row);
}
