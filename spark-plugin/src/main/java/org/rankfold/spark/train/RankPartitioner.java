// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import org.apache.spark.Partitioner;
import org.rankfold.transport.RankTable;

/** Sends a logical rank's rows to the task that hosts it: as many partitions as tasks. */
final class RankPartitioner extends Partitioner {
  private static final long serialVersionUID = 1L;

  private final int world;
  private final int tasks;

  RankPartitioner(RankTable table) {
    world = table.world();
    tasks = table.tasks();
  }

  @Override
  public int numPartitions() {
    return tasks;
  }

  @Override
  public int getPartition(Object rank) {
    return new RankTable(world, tasks).taskOf((Integer) rank);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RankPartitioner that && world == that.world && tasks == that.tasks;
  }

  @Override
  public int hashCode() {
    return 31 * world + tasks;
  }
}
