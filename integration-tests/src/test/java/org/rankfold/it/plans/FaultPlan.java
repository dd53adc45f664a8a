// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.plans;

import java.util.Random;

/**
 * One fault: what happens when a task sends the first message of a phase at or after a step.
 *
 * @param seed what all else follows from
 * @param kind what happens
 * @param task whose message it is
 * @param step from which call on, from 1
 * @param phase which message
 * @param delayMs of a DELAY
 * @param bit of the message's header that CORRUPT turns
 */
record FaultPlan(long seed, Kind kind, int task, int step, Phase phase, int delayMs, int bit) {
  /** What happens. */
  enum Kind {
    /** The task's process is killed. */
    KILL,
    /** The task's process is stopped. */
    STOP,
    /** The pair's connection is reset on both sides. */
    CUT,
    /** What the task says to that peer vanishes from here on; the other direction goes on. */
    DROP,
    /** A bit of the header is another. */
    CORRUPT,
    /** The message and all behind it come later. */
    DELAY
  }

  /** A message on the way. */
  enum Phase {
    /** The greeting of a connection. */
    HELLO,
    /** A call's header. */
    CALL,
    /** A logical rank's elements on their way to the task that folds them. */
    ADDEND,
    /** Folded elements. */
    RESULT,
    /** The last word. */
    GOODBYE
  }

  private static final int HEADER_BITS = 56 * 8;

  /** The plan of a seed, for groups of so many tasks that make so many calls. */
  static FaultPlan of(long seed, int tasks, int calls) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L);
    Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
    Phase phase = Phase.values()[random.nextInt(Phase.values().length)];
    // Tasks dial those below them, so the first one greets nobody.
    int task = phase == Phase.HELLO ? 1 + random.nextInt(tasks - 1) : random.nextInt(tasks);
    return new FaultPlan(
        seed,
        kind,
        task,
        1 + random.nextInt(calls - 1),
        phase,
        100 + random.nextInt(900),
        random.nextInt(HEADER_BITS));
  }

  boolean strikes(int sender, Phase sent, long call) {
    boolean isCounted = sent != Phase.HELLO && sent != Phase.GOODBYE;
    return sender == task && sent == phase && (!isCounted || call >= step);
  }

  /** Whether a survivor may not notice. */
  boolean isHarmless() {
    return kind == Kind.DELAY;
  }
}
