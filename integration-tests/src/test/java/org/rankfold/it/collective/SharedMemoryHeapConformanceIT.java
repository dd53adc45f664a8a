// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import org.junit.jupiter.api.Nested;

/** Every suite over shared memory, with arrays: slots, and records that carry small calls. */
class SharedMemoryHeapConformanceIT {
  private static final Groups GROUPS = new SharedMemoryThreadGroups(false);

  @Nested
  class Results extends ResultsSuite {
    @Override
    Groups groups() {
      return GROUPS;
    }
  }

  @Nested
  class Misuse extends MisuseSuite {
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
