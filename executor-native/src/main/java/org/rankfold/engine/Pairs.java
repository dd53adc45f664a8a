// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.util.stream.IntStream;
import org.rankfold.transport.PairPath;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.Transport;

/** A task's peers by the path of the pair. */
final class Pairs {
  private Pairs() {}

  static int[] of(RankTable table, int task, Transport transport, PairPath path) {
    return IntStream.range(0, table.tasks())
        .filter(peer -> peer != task && transport.path(peer) == path)
        .toArray();
  }
}
