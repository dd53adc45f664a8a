// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.train;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.rankfold.collective.CommunicatorInfo;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * The rows of a task's logical ranks, in memory.
 *
 * @param training rows to train on, by hosted rank, sorted by key
 * @param heldOut rows to evaluate, likewise
 */
record HostedRows<R>(List<List<R>> training, List<List<R>> heldOut) {
  private static final int ROWS_BETWEEN_CHECKS = 1024;

  /** Takes all rows in, in whatever order they come. */
  static <R> HostedRows<R> of(CommunicatorInfo info, Iterator<KeyedRow<R>> rows, Runnable check) {
    List<RankShare<R>> training = new ArrayList<>();
    List<RankShare<R>> heldOut = new ArrayList<>();
    for (int i = 0; i < info.rankCount(); i++) {
      training.add(new RankShare<>());
      heldOut.add(new RankShare<>());
    }
    for (long taken = 0; rows.hasNext(); taken++) {
      if (taken % ROWS_BETWEEN_CHECKS == 0) {
        check.run();
      }
      KeyedRow<R> row = rows.next();
      int i = row.rank() - info.firstRank();
      if (i < 0 || i >= info.rankCount()) {
        throw new CollectiveException(
            ErrorCode.INTERNAL,
            "key " + row.key() + " of logical rank " + row.rank() + " came to task " + info.task());
      }
      (row.heldOut() ? heldOut : training).get(i).add(row);
    }
    return new HostedRows<>(sorted(training), sorted(heldOut));
  }

  private static <R> List<List<R>> sorted(List<RankShare<R>> shares) {
    List<List<R>> lists = new ArrayList<>();
    shares.forEach(share -> lists.add(share.sorted()));
    return lists;
  }
}
