// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class FatalExitTest {
  private final List<Integer> halts = new ArrayList<>();

  @Test
  void shouldEndTheProcessOnlyWhenAnExecutorsMemoryIsNotSafe() {
    FatalExit executor = new FatalExit("3", halts::add);
    executor.onFailure(new IllegalStateException("the user's"));
    executor.onFailure(new CollectiveException(ErrorCode.PEER_FAILED, "lost"));
    assertThat(halts).isEmpty();
    executor.onFailure(new CollectiveException(ErrorCode.MEMORY_STILL_BORROWED, "unsafe"));
    assertThat(halts).containsExactly(57);
  }

  @Test
  void shouldLeaveTheProcessAloneWhenItIsTheDriversOwn() {
    new FatalExit("driver", halts::add)
        .onFailure(new CollectiveException(ErrorCode.MEMORY_STILL_BORROWED, "unsafe"));
    assertThat(halts).isEmpty();
  }
}
