// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.View;

/**
 * The last of three tasks fails between two calls over device memory; the others' call must end.
 */
final class PlannedFailure {
  private final List<Long> endedNs = new ArrayList<>();
  private volatile long failedNs;

  /** What every task does. */
  String run(Communicator communicator) {
    View view = communicator.allocateOnDevice(DType.F32, 1 << 20).view();
    communicator.allReduce(List.of(view), view);
    if (communicator.info().task() == 2) {
      failedNs = System.nanoTime();
      throw new CollectiveException(ErrorCode.PEER_FAILED, "planned");
    }
    try {
      communicator.allReduce(List.of(view), view);
    } finally {
      synchronized (endedNs) {
        endedNs.add(System.nanoTime());
      }
    }
    return "";
  }

  /** Holds what the group threw against the plan. */
  void assertEnded(CollectiveException first) {
    assertThat(first).hasMessageContaining("planned");
    assertThat(endedNs).hasSize(2);
    for (long ended : endedNs) {
      assertThat(Duration.ofNanos(ended - failedNs)).isLessThan(Duration.ofSeconds(5));
    }
  }
}
