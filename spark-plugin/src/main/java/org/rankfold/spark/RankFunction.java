// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import java.io.Serializable;

/**
 * What every task of a group does.
 *
 * @param <R> what a task returns; serializable by Spark's serializer
 */
@FunctionalInterface
public interface RankFunction<R> extends Serializable {
  /**
   * Runs once on the thread of each task.
   *
   * @param context the task's place in its group; closed after the call
   * @return the task's result
   * @throws Exception anything: the group ends and the driver throws the first cause
   */
  R call(RankContext context) throws Exception;
}
