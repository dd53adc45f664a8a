// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

/**
 * Where a communicator stands in its group.
 *
 * @param world logical ranks in the group
 * @param tasks tasks in the group
 * @param task this task
 * @param firstRank the first logical rank this task hosts
 * @param rankCount how many logical ranks it hosts, at least 1
 * @param transport what moves bytes, for example {@code loopback}
 * @param path how pairs of tasks exchange them: {@code mapped}, {@code staged} or {@code mixed}
 */
public record CommunicatorInfo(
    int world, int tasks, int task, int firstRank, int rankCount, String transport, String path) {
  CommunicatorInfo withTransport(String newTransport) {
    return new CommunicatorInfo(world, tasks, task, firstRank, rankCount, newTransport, path);
  }
}
