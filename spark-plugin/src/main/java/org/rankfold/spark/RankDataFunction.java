// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.io.Serializable;
import java.util.Iterator;

/**
 * What every task of a group does with its partition.
 *
 * @param <T> what the partition holds
 * @param <R> what a task returns; serializable by Spark's serializer
 */
@FunctionalInterface
public interface RankDataFunction<T, R> extends Serializable {
  /**
   * Runs once on the thread of each task.
   *
   * @param context the task's place in its group; closed after the call
   * @param rows the partition of the task's number, to be read once and on this thread
   * @return the task's result
   * @throws Exception anything: the group ends and the driver throws the first cause
   */
  R call(RankContext context, Iterator<T> rows) throws Exception;
}
