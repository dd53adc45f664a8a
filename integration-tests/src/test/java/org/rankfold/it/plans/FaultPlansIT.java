// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.plans;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rankfold.errors.ErrorCode;

/**
 * Whatever strikes a group of three processes, each survivor has either the right bits or a typed
 * error within the longest of the group's timeouts and two seconds. One plan alone: {@code
 * -Dtest.flags=-Drankfold.seed=SEED}; a part of the nightly's: {@code -Drankfold.seed=1000
 * -Drankfold.plans=50}.
 */
@Timeout(3000)
class FaultPlansIT {
  private static final int TASKS = 3;

  /** The timeouts of connect and collective are four seconds, the peer's three. */
  private static final long BOUND_MS = 6000;

  private static final long HANG_S = 40;

  @TempDir private Path folder;

  @Test
  void shouldEndInRightBitsOrATypedErrorWhateverStrikes() throws Exception {
    Long only = Long.getLong("rankfold.seed");
    run(only == null ? 1 : only, only == null ? 20 : 1);
  }

  @Test
  @Tag("nightly")
  void shouldEndInRightBitsOrATypedErrorWhicheverOfManyStrikes() throws Exception {
    Long first = Long.getLong("rankfold.seed");
    run(
        first == null ? 1000 : first,
        Integer.getInteger("rankfold.plans", first == null ? 200 : 1));
  }

  /** Where a kernel has no netem, this stands for it. */
  @Test
  @Tag("nightly")
  void shouldGiveRightBitsWhenEveryByteIs200MillisecondsLate() throws Exception {
    try (PlanProcesses processes = new PlanProcesses(folder, TASKS)) {
      long startMs = System.currentTimeMillis();
      List<PlanProcesses.Ending> endings =
          processes.run(FaultGate.Strike.late(200), "late", HANG_S);
      assertThat(endings).extracting(PlanProcesses.Ending::what).containsOnly("EQUAL");
      long worstMs = endings.stream().mapToLong(PlanProcesses.Ending::atMs).max().orElseThrow();
      System.out.println("200 ms late: equal after " + (worstMs - startMs) + " ms");
      // Two round trips of the handshake and at least one way for each of six calls.
      assertThat(worstMs - startMs).isGreaterThan(6 * 200 + 2 * 400);
    }
  }

  @Test
  void shouldCoverEveryKindAndPhaseInTheFirstTwentyPlans() {
    List<FaultPlan> plans = new ArrayList<>();
    for (long seed = 1; seed <= 20; seed++) {
      plans.add(FaultPlan.of(seed, TASKS, PlanRankMain.rows().size()));
    }
    assertEquals(plans.get(3), FaultPlan.of(4, TASKS, PlanRankMain.rows().size()));
    assertThat(plans.stream().map(FaultPlan::kind).distinct())
        .hasSize(FaultPlan.Kind.values().length);
    assertThat(plans.stream().map(FaultPlan::phase).distinct())
        .hasSize(FaultPlan.Phase.values().length);
  }

  private void run(long first, int plans) throws Exception {
    int calls = PlanRankMain.rows().size();
    assertEquals(6, calls);
    Map<FaultPlan.Kind, Long> worstMs = new EnumMap<>(FaultPlan.Kind.class);
    List<String> findings = new ArrayList<>();
    int struck = 0;
    try (PlanProcesses processes = new PlanProcesses(folder, TASKS)) {
      for (long seed = first; seed < first + plans; seed++) {
        FaultPlan plan = FaultPlan.of(seed, TASKS, calls);
        FaultGate.Strike strike = new FaultGate.Strike(plan, () -> processes.strike(plan));
        List<PlanProcesses.Ending> endings = processes.run(strike, "plan-" + seed, HANG_S);
        struck += strike.atMs() > 0 ? 1 : 0;
        System.out.println(plan + (strike.atMs() > 0 ? "" : " did not strike"));
        for (PlanProcesses.Ending ending : endings) {
          long tookMs = strike.atMs() == 0 ? 0 : ending.atMs() - strike.atMs();
          System.out.println("  " + ending.what() + " after " + tookMs + " ms: " + ending);
          judge(plan, strike, ending, tookMs, findings);
          if (ending.what().equals("LOST")) {
            worstMs.merge(plan.kind(), tookMs, Math::max);
          }
        }
        assertThat(findings).isEmpty();
      }
      assertThat(processes.end()).containsOnly("LEFT threads=0");
    }
    System.out.println("struck=" + struck + " of " + plans + ", worst ms to an error: " + worstMs);
    assertTrue(struck * 4 >= plans * 3, "struck=" + struck + " of " + plans);
  }

  private static void judge(
      FaultPlan plan,
      FaultGate.Strike strike,
      PlanProcesses.Ending ending,
      long tookMs,
      List<String> findings) {
    boolean isTyped =
        ending.what().equals("LOST")
            && Set.of(ErrorCode.values()).stream()
                .anyMatch(code -> ending.text().startsWith(code + " "));
    boolean isRight = ending.what().equals("EQUAL") || ending.what().equals("GONE");
    boolean wasStruck = strike.atMs() > 0;
    if (!isRight && !(isTyped && wasStruck && !plan.isHarmless())) {
      findings.add(plan + " -> " + ending);
    } else if (isTyped && tookMs > BOUND_MS) {
      findings.add(plan + " took " + tookMs + " ms > " + BOUND_MS + " ms -> " + ending);
    }
  }

  /** What the judge is for: it must not pass what it should find. */
  @Test
  void shouldFindWrongBitsHangsAndLateErrors() {
    FaultPlan cut = planOf(FaultPlan.Kind.CUT);
    FaultGate.Strike strike = new FaultGate.Strike(cut, () -> {});
    assertEquals(cut.kind(), strike.on(cut.task(), cut.phase(), Long.MAX_VALUE));
    assertNotEquals(0, strike.atMs());
    for (String what : new String[] {"WRONG", "HUNG", "LOST"}) {
      assertThat(found(cut, strike, what, "no code", 1)).hasSize(1);
    }
    assertThat(found(cut, strike, "LOST", ErrorCode.PEER_FAILED + " it", 1)).isEmpty();
    assertThat(found(cut, strike, "LOST", ErrorCode.PEER_FAILED + " it", BOUND_MS + 1)).hasSize(1);
    FaultPlan delay = planOf(FaultPlan.Kind.DELAY);
    FaultGate.Strike late = new FaultGate.Strike(delay, () -> {});
    late.on(delay.task(), delay.phase(), Long.MAX_VALUE);
    assertThat(found(delay, late, "LOST", ErrorCode.PEER_FAILED + " it", 1)).hasSize(1);
    assertThat(found(delay, late, "EQUAL", "", 1)).isEmpty();
  }

  private static List<String> found(
      FaultPlan plan, FaultGate.Strike strike, String what, String text, long tookMs) {
    List<String> findings = new ArrayList<>();
    judge(plan, strike, new PlanProcesses.Ending(0, what, 0, text), tookMs, findings);
    return findings;
  }

  private static FaultPlan planOf(FaultPlan.Kind kind) {
    for (long seed = 0; ; seed++) {
      FaultPlan plan = FaultPlan.of(seed, TASKS, 6);
      if (plan.kind() == kind) {
        return plan;
      }
    }
  }
}
