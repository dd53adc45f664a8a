// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import org.junit.jupiter.api.Nested;

/** Every suite over TCP. */
class TcpConformanceIT {
  private static final Groups GROUPS = new TcpThreadGroups();

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
