// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.plans;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.errors.ErrorCode;
import org.rankfold.it.net.Hosts;
import org.rankfold.it.net.Place;

/**
 * One task a host, over IPv4 and IPv6: a cut ends every task with a typed error within the peer's
 * timeout and two seconds, a bad line only takes longer.
 */
@Tag("nightly")
@Timeout(600)
class NetworkIT {
  /** The peer's timeout is three seconds. */
  private static final long CUT_MS = 5000;

  /**
   * Who hears but is not heard waits longer: its peers give it up in time, but TCP does not send
   * their last words before the older ones were acknowledged, so it may have to find their silence
   * out itself.
   */
  private static final long UNHEARD_MS = 8000;

  private static final long HANG_S = 60;
  private static final int ENDLESS = 1_000_000;
  private static final int SOME = 5;

  @TempDir private Path folder;

  @BeforeEach
  void requireHosts() {
    Optional<String> obstacle = Hosts.obstacle();
    assumeTrue(obstacle.isEmpty(), () -> "no network namespaces here: " + obstacle.orElseThrow());
  }

  private interface Fault {
    void strike(Hosts hosts);
  }

  @ParameterizedTest
  @CsvSource({"2, false", "2, true", "4, false", "4, true"})
  void shouldEndEveryTaskWhenAHostIsCutOff(int count, boolean isIpv6) throws Exception {
    assertLost("cut", count, isIpv6, CUT_MS, hosts -> hosts.cut(count - 1));
  }

  @ParameterizedTest
  @CsvSource({"2, false", "2, true", "4, false", "4, true"})
  void shouldEndEveryTaskWhenAHostIsNotHeardAnyMore(int count, boolean isIpv6) throws Exception {
    assertLost("one-way cut", count, isIpv6, UNHEARD_MS, hosts -> hosts.cutOneWay(count - 1));
  }

  @ParameterizedTest
  @CsvSource({"2, false", "4, true"})
  void shouldGiveRightBitsWhenLinesAreSlow(int count, boolean isIpv6) throws Exception {
    try (Hosts hosts = Hosts.make(count, isIpv6)) {
      hosts.limit("10mbit");
      assertEqual("10 Mbit/s", count, isIpv6, hosts);
    }
  }

  @ParameterizedTest
  @CsvSource({"2, false", "4, true"})
  void shouldGiveRightBitsWhenPacketsAreLost(int count, boolean isIpv6) throws Exception {
    try (Hosts hosts = Hosts.make(count, isIpv6)) {
      Optional<String> obstacle = hosts.loseOnePercent();
      assumeTrue(obstacle.isEmpty(), () -> "no loss here: " + obstacle.orElseThrow());
      assertEqual("1 % loss", count, isIpv6, hosts);
    }
  }

  @ParameterizedTest
  @CsvSource({"2, false", "4, true"})
  void shouldGiveRightBitsWhenPacketsAreLate(int count, boolean isIpv6) throws Exception {
    try (Hosts hosts = Hosts.make(count, isIpv6)) {
      Optional<String> obstacle = hosts.delay("200ms");
      assumeTrue(obstacle.isEmpty(), () -> "no delay here: " + obstacle.orElseThrow());
      assertEqual("200 ms delay", count, isIpv6, hosts);
    }
  }

  private void assertLost(String what, int count, boolean isIpv6, long victimMs, Fault fault)
      throws Exception {
    try (Hosts hosts = Hosts.make(count, isIpv6);
        PlanProcesses processes = new PlanProcesses(folder, places(hosts, count), "")) {
      processes.begin("first", ENDLESS);
      TimeUnit.SECONDS.sleep(3);
      long cutMs = System.currentTimeMillis();
      fault.strike(hosts);
      long worstMs = 0;
      for (int task = 0; task < count; task++) {
        PlanProcesses.Ending ending =
            processes.ending("first", task, TimeUnit.SECONDS.toNanos(HANG_S), () -> false);
        assertEquals("LOST", ending.what(), ending::toString);
        assertThat(ending.text()).startsWith(ErrorCode.PEER_FAILED + " ");
        long tookMs = ending.atMs() - cutMs;
        boolean isVictim = task == count - 1;
        assertThat(tookMs).as(ending.toString()).isBetween(1L, isVictim ? victimMs : CUT_MS);
        if (isVictim) {
          System.out.println(
              line(what, count, isIpv6)
                  + (" peers " + worstMs + " ms, the host itself " + tookMs + " ms to an error"));
        }
        worstMs = Math.max(worstMs, tookMs);
      }
    }
  }

  private void assertEqual(String what, int count, boolean isIpv6, Hosts hosts) throws Exception {
    try (PlanProcesses processes = new PlanProcesses(folder, places(hosts, count), "")) {
      long startMs = System.currentTimeMillis();
      processes.begin("all", SOME);
      long worstMs = 0;
      for (int task = 0; task < count; task++) {
        PlanProcesses.Ending ending =
            processes.ending("all", task, TimeUnit.SECONDS.toNanos(HANG_S), () -> false);
        assertEquals("EQUAL", ending.what(), ending::toString);
        worstMs = Math.max(worstMs, ending.atMs() - startMs);
      }
      System.out.println(line(what, count, isIpv6) + " equal after " + worstMs + " ms");
      assertTrue(processes.end().stream().allMatch("LEFT threads=0"::equals));
    }
  }

  private static String line(String what, int count, boolean isIpv6) {
    return what + ", " + count + " hosts, " + (isIpv6 ? "IPv6" : "IPv4") + ":";
  }

  private static List<Place> places(Hosts hosts, int count) {
    List<Place> places = new ArrayList<>();
    for (int host = 0; host < count; host++) {
      places.add(hosts.place(host));
    }
    return places;
  }
}
