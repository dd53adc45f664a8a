// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.driver;

import java.io.Serializable;
import org.rankfold.InternalApi;

/**
 * What a task tells the driver about itself, about once a second.
 *
 * @param run the run that formed the group, another for every attempt; empty in a barrier stage of
 *     the user's own
 * @param epoch the group's id
 * @param tasks how many tasks the group has
 * @param task which one this is
 * @param who its logical ranks, executor, host and GPU, for messages
 * @param state where the task stands
 * @param lastFinished the last collective call that ended, 0 before the first
 * @param currentCall the number of the call under way, 0 between calls
 * @param call the call under way, for messages; null between calls
 * @param elapsedNs how long the task has been in {@code call}, or out of one
 * @param what the user's own words on progress, or null
 * @param fraction the user's fraction, from 0 to 1
 */
@InternalApi
public record TaskReport(
    String run,
    String epoch,
    int tasks,
    int task,
    String who,
    State state,
    long lastFinished,
    long currentCall,
    String call,
    long elapsedNs,
    String what,
    double fraction)
    implements Serializable {
  /** Where a task stands. */
  public enum State {
    /** In the user's code or a call. */
    RUNNING,
    /** Left in good order. */
    ENDED,
    /** Failed. */
    FAILED
  }
}
