// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.FloatBuffer;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.rankfold.collective.Communicator;
import org.rankfold.contract.ReduceContract;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.Fold;
import org.rankfold.fold.Folds;
import org.rankfold.view.View;

/**
 * Four tasks fold big arrays until one of them is killed at a random moment. Each fills its arrays
 * again as soon as its call has thrown, and looks at them when everybody has ended: a single
 * element that changed was written by a peer that had not left.
 */
final class KilledFold {
  private static final int REPETITIONS = 25;
  private static final int TASKS = 4;
  private static final int CHUNK = Groups.CHUNK_BYTES / Float.BYTES;
  private static final int N = 8 * TASKS * CHUNK;
  private static final int WITHIN_NS = 20_000_000;
  private static final long PAUSE_NS = 1_000_000;
  private static final Fold FOLD = Folds.fastest();
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
    groups.run(
        TASKS,
        TASKS,
        Groups.PATIENT,
        KilledFold::slowly,
        communicator -> foldUntilKilled(groups, communicator));
    assertThat(ended.getCount()).isZero();
  }

  /** Pauses in the middle of every chunk, for longer than a peer takes to leave its call. */
  private static void slowly(ReduceContract contract, View[] addends, View[] outs) {
    long count = addends[0].count();
    FOLD.fold(contract, slices(addends, 0, count / 2), slices(outs, 0, count / 2));
    LockSupport.parkNanos(PAUSE_NS);
    FOLD.fold(
        contract,
        slices(addends, count / 2, count - count / 2),
        slices(outs, count / 2, count - count / 2));
  }

  private static View[] slices(View[] views, long from, long count) {
    View[] slices = new View[views.length];
    for (int i = 0; i < views.length; i++) {
      slices[i] = views[i].slice(from, count);
    }
    return slices;
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

  private String foldUntilKilled(Groups groups, Communicator communicator) {
    Groups.Floats addend = groups.floats(communicator, N);
    Groups.Floats out = groups.floats(communicator, N);
    Groups.Floats other = groups.floats(communicator, N);
    if (communicator.info().task() == 1) {
      victims.set(communicator);
      victim.set(Thread.currentThread());
    }
    running.countDown();
    CollectiveException end = null;
    while (end == null) {
      try {
        if (kill == Kill.INTERRUPT_BEHIND_ASYNC) {
          communicator.allReduceAsync(List.of(other.view()), other.view());
        }
        communicator.allReduce(List.of(addend.view()), out.view());
      } catch (CollectiveException e) {
        end = e;
      }
    }
    refill(out.floats());
    refill(addend.floats());
    ended.countDown();
    boolean interrupted = Thread.interrupted();
    assertThat(allCame(ended)).isTrue();
    assertThat(end.code())
        .isEqualTo(kill == Kill.ABORT ? ErrorCode.USER_CODE_FAILED : ErrorCode.CANCELLED);
    assertThat(interrupted).isEqualTo(kill != Kill.ABORT && communicator.info().task() == 1);
    assertUntouched(addend.floats());
    assertUntouched(out.floats());
    return "";
  }

  private static void refill(FloatBuffer floats) {
    for (int i = CHUNK - 1; i < N; i += CHUNK) {
      floats.put(i, SENTINEL);
    }
  }

  private static void assertUntouched(FloatBuffer floats) {
    for (int i = CHUNK - 1; i < N; i += CHUNK) {
      if (floats.get(i) != SENTINEL) {
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
