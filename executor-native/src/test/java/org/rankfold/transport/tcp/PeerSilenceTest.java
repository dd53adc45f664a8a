// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PeerSilenceTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long START = Math.subtractExact(Long.MAX_VALUE, SECOND);

  private final PeerSilence silence = new PeerSilence(4 * SECOND, START);

  @Test
  void shouldBeTooLongAtTheTimeoutAndNotBeforeEvenWhenTheClockWraps() {
    assertFalse(silence.isTooLong(START + 4 * SECOND - 1));
    assertTrue(silence.isTooLong(START + 4 * SECOND));
    assertEquals(4.0, silence.silentSeconds(START + 4 * SECOND));
    silence.onHeard(START + 3 * SECOND);
    assertFalse(silence.isTooLong(START + 7 * SECOND - 1));
    assertTrue(silence.isTooLong(START + 7 * SECOND));
  }

  @Test
  void shouldAskForASignFourTimesInATimeout() {
    assertFalse(silence.isSignDue(START + SECOND - 1));
    assertTrue(silence.isSignDue(START + SECOND));
    silence.onSpoken(START + SECOND);
    assertFalse(silence.isSignDue(START + 2 * SECOND - 1));
    assertTrue(silence.isSignDue(START + 2 * SECOND));
  }
}
