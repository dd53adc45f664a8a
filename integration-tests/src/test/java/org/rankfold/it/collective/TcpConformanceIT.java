// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import org.junit.jupiter.api.Nested;
import org.rankfold.engine.PartialsRule;

/** Every suite over TCP. */
class TcpConformanceIT {
  private static final Groups GROUPS = new TcpThreadGroups(PartialsRule.AUTO);
  private static final Groups SUMS = new TcpThreadGroups(PartialsRule.ALWAYS);

  @Nested
  class Results extends ResultsSuite {
    @Override
    Groups groups() {
      return GROUPS;
    }
  }

  @Nested
  class ResultsOfSums extends ResultsSuite {
    @Override
    Groups groups() {
      return SUMS;
    }
  }

  @Nested
  class FailureOfSums extends FailureSuite {
    @Override
    Groups groups() {
      return SUMS;
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
