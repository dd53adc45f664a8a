// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import org.junit.jupiter.api.Nested;
import org.rankfold.transport.loopback.PathRule;

class LoopbackStagedTest {
  private static final Groups GROUPS = Groups.loopback(PathRule.STAGED);

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
