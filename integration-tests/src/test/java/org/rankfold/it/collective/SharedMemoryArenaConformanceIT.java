// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import org.junit.jupiter.api.Nested;

/** Results and failures over shared memory, with arenas in place of arrays: mapped pairs. */
class SharedMemoryArenaConformanceIT {
  private static final Groups GROUPS = new SharedMemoryThreadGroups(true);

  @Nested
  class Results extends ResultsSuite {
    @Override
    Groups groups() {
      return GROUPS;
    }
  }

  @Nested
  class Failure extends FailureSuite {
    @Override
    Groups groups() {
      return GROUPS;
    }
  }
}
