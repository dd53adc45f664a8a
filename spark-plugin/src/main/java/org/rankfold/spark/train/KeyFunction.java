// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.io.Serializable;

/**
 * Says what a row is known by.
 *
 * @param <R> a row
 */
@FunctionalInterface
public interface KeyFunction<R> extends Serializable {
  /**
   * The key of a row: a function of the row's contents alone, different for rows that differ.
   *
   * @param row a row
   * @return its key
   */
  RowKey keyOf(R row);
}
