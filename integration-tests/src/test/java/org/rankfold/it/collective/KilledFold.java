// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.rankfold.collective.Communicator;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.View;

/**
 * Four tasks fold big arrays until one of them is killed at a random moment. Each fills its arrays
 * again as soon as its call has thrown, and looks at them when everybody has ended: a single
 * element that changed was written by a peer that had not left.
 */
final class KilledFold {
  private static final int REPETITIONS = 25;
  private static final int TASKS = 4;
  private static final int N = 400_000;
  private static final int WITHIN_NS = 6_000_000;
  private static final float SENTINEL = -1234.5f;

  /** How the group ends. */
  enum Kill {
    /** Task 1 is interrupted, as when Spark kills a task. */
    INTERRUPT,
    /** Task 1's communicator is aborted by another thread. */
    ABORT,
    /** Task 1 is interrupted in a blocking call that waits behind an asynchronous one. */
    INTERRUPT_BEHIND_ASYNC
  }

  private final Kill kill;
  private final int delayNs;
  private final CountDownLatch running = new CountDownLatch(TASKS);
  private final CountDownLatch ended = new CountDownLatch(TASKS);
  private final AtomicReference<Thread> victim = new AtomicReference<>();
  private final AtomicReference<Communicator> victims = new AtomicReference<>();

  private KilledFold(Kill kill, int delayNs) {
    this.kill = kill;
    this.delayNs = delayNs;
  }

  static void repeat(Groups groups, Kill kill) {
    long seed = Long.getLong("rankfold.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
      KilledFold fold = new KilledFold(kill, random.nextInt(WITHIN_NS));
      try {
        fold.run(groups);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            kill + " #" + repetition + "; again with -Dtest.flags=-Drankfold.seed=" + seed, e);
      }
    }
  }

  private void run(Groups groups) {
    Thread killer = new Thread(this::killLater, "killer");
    killer.start();
    groups.run(TASKS, TASKS, this::foldUntilKilled);
    assertThat(ended.getCount()).isZero();
  }

  private void killLater() {
    if (!allCame(running)) {
      return;
    }
    long startNs = System.nanoTime();
    while (System.nanoTime() - startNs < delayNs) {
      Thread.onSpinWait();
    }
    if (kill == Kill.ABORT) {
      victims.get().abort(new IllegalStateException("killed"));
    } else {
      victim.get().interrupt();
    }
  }

  private String foldUntilKilled(Communicator communicator) {
    float[] addend = new float[N];
    float[] out = new float[N];
    float[] other = new float[N];
    if (communicator.info().task() == 1) {
      victims.set(communicator);
      victim.set(Thread.currentThread());
    }
    running.countDown();
    CollectiveException end = null;
    while (end == null) {
      try {
        if (kill == Kill.INTERRUPT_BEHIND_ASYNC) {
          communicator.allReduceAsync(List.of(View.of(other)), View.of(other));
        }
        communicator.allReduce(List.of(View.of(addend)), View.of(out));
      } catch (CollectiveException e) {
        end = e;
      }
    }
    Arrays.fill(addend, SENTINEL);
    Arrays.fill(out, SENTINEL);
    ended.countDown();
    boolean interrupted = Thread.interrupted();
    assertThat(allCame(ended)).isTrue();
    assertThat(end.code())
        .isEqualTo(kill == Kill.ABORT ? ErrorCode.PEER_FAILED : ErrorCode.CANCELLED);
    assertThat(interrupted).isEqualTo(kill != Kill.ABORT && communicator.info().task() == 1);
    assertUntouched(addend);
    assertUntouched(out);
    return "";
  }

  private static void assertUntouched(float[] filled) {
    for (int i = 0; i < filled.length; i++) {
      if (filled[i] != SENTINEL) {
        throw new AssertionError("element " + i + " was written after the call had ended");
      }
    }
  }

  private static boolean allCame(CountDownLatch latch) {
    try {
      return latch.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
