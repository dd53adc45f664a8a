// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.util.Optional;
import org.rankfold.InternalApi;
import org.rankfold.collective.Communicator;

/**
 * A task's seat in the group that a bootstrap formed.
 *
 * @param epoch the group's id: application, stage, stage attempt, nonce
 * @param communicator the task's, owned by whoever joined
 * @param localRank this task's place among the group's tasks on its host
 * @param executor Spark's executor id
 * @param host as Spark names it
 * @param device the first GPU Spark assigned to the task
 * @param gpu the GPU the task uses, by its number in the process
 */
@InternalApi
public record JoinedGroup(
    String epoch,
    Communicator communicator,
    int localRank,
    String executor,
    String host,
    Optional<String> device,
    Optional<Integer> gpu) {}
