// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.collective.CollectiveHandle;
import org.rankfold.collective.Communicator;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.View;

/**
 * Failures: every task ends with the first cause, in time, and nobody's memory is written later.
 */
abstract class FailureSuite {
  private static final Duration SOON = Duration.ofSeconds(5);

  abstract Groups groups();

  @AfterEach
  void shouldLeaveNoThreadBehindAndLetTheNextGroupWork() {
    long startNs = System.nanoTime();
    while (!ownThreads().isEmpty() && System.nanoTime() - startNs < SOON.toNanos()) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    assertThat(ownThreads()).isEmpty();
    assertThat(groups().run(3, 3, FailureSuite::sum)).containsExactly(6f, 6f, 6f);
  }

  private static List<String> ownThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(Thread::isAlive)
        .map(Thread::getName)
        .filter(name -> name.startsWith("rankfold-"))
        .toList();
  }

  private static float sum(Communicator communicator) {
    float[] x = {communicator.info().task() + 1};
    communicator.allReduce(List.of(View.of(x)), View.of(x));
    return x[0];
  }

  /** Lives in its own code, looking up now and then. */
  private static void idleUntilAborted(Communicator communicator) {
    while (true) {
      communicator.checkAbort();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  @Test
  void shouldEndEveryTaskWithTheFirstCauseWhenUserCodeThrows() {
    for (int i = 0; i < 20; i++) {
      long startNs = System.nanoTime();
      assertThatThrownBy(
              () ->
                  groups()
                      .run(
                          4,
                          4,
                          communicator -> {
                            sum(communicator);
                            switch (communicator.info().task()) {
                              case 2 -> throw new IllegalStateException("my own fault");
                              case 3 -> idleUntilAborted(communicator);
                              default -> sum(communicator);
                            }
                            return "";
                          }))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("my own fault")
          .satisfies(
              e -> {
                assertThat(e.getSuppressed()).hasSize(3);
                for (Throwable other : e.getSuppressed()) {
                  assertThat(((CollectiveException) other).code())
                      .isEqualTo(ErrorCode.USER_CODE_FAILED);
                  assertThat(other.getMessage()).contains("my own fault", "task 2");
                }
              });
      assertThat(System.nanoTime() - startNs).isLessThan(SOON.toNanos());
    }
  }

  @Test
  void shouldEndInTimeWhenUserCodeThrowsWithAnAsynchronousCallUnderWay() {
    long startNs = System.nanoTime();
    assertThatThrownBy(
            () ->
                groups()
                    .run(
                        3,
                        3,
                        Duration.ofSeconds(20),
                        communicator -> {
                          if (communicator.info().task() == 0) {
                            float[] x = new float[100];
                            CollectiveHandle handle =
                                communicator.allReduceAsync(List.of(View.of(x)), View.of(x));
                            throw new IllegalStateException("done=" + handle.isDone());
                          }
                          idleUntilAborted(communicator);
                          return "";
                        }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("done=false");
    assertThat(System.nanoTime() - startNs).isLessThan(SOON.toNanos());
  }

  @Test
  void shouldNameTheRankThatDoesNotArrive() {
    List<CollectiveException> errors =
        groups()
            .errors(
                6,
                3,
                Duration.ofMillis(700),
                communicator -> {
                  communicator.barrier();
                  if (communicator.info().task() == 1) {
                    idleUntilAborted(communicator);
                  }
                  float[] x = new float[5];
                  communicator.allReduce(List.of(View.of(x), View.of(new float[5])), View.of(x));
                });
    assertThat(errors).doesNotContainNull();
    for (CollectiveException error : errors) {
      assertThat(error.code()).isEqualTo(ErrorCode.TIMEOUT);
      assertThat(error.getMessage())
          .contains(
              "all_reduce #2 (f32 x 5, sum, RANK_LEFT)",
              "2 of 3 tasks arrived",
              "missing logical ranks 2..3 (task 1)",
              "0.7 s");
    }
  }

  @Test
  void shouldCancelEveryTaskWhenOneIsInterrupted() {
    AtomicReference<Thread> victim = new AtomicReference<>();
    List<CollectiveException> errors =
        groups()
            .errors(
                3,
                3,
                communicator -> {
                  switch (communicator.info().task()) {
                    case 0 -> {
                      victim.set(Thread.currentThread());
                      communicator.barrier();
                    }
                    case 1 -> communicator.barrier();
                    default -> {
                      while (victim.get() == null
                          || victim.get().getState() == Thread.State.RUNNABLE) {
                        Thread.onSpinWait();
                      }
                      victim.get().interrupt();
                      idleUntilAborted(communicator);
                    }
                  }
                });
    assertThat(errors).doesNotContainNull();
    assertThat(errors).extracting(CollectiveException::code).containsOnly(ErrorCode.CANCELLED);
  }

  @Test
  void shouldNameTheTaskThatClosedWhilePeersCall() {
    List<CollectiveException> errors =
        groups()
            .errors(
                3,
                3,
                communicator -> {
                  communicator.barrier();
                  if (communicator.info().task() != 1) {
                    sum(communicator);
                  }
                });
    assertThat(errors.get(1)).isNull();
    for (int task : new int[] {0, 2}) {
      assertThat(errors.get(task).code()).isEqualTo(ErrorCode.PEER_FAILED);
      assertThat(errors.get(task).getMessage())
          .contains("logical rank 1 (task 1) closed its communicator after call #1");
    }
  }

  @Test
  void shouldThrowTheFirstCauseAtEveryLaterCall() {
    groups()
        .run(
            2,
            2,
            communicator -> {
              if (communicator.info().task() == 0) {
                communicator.abort(new IllegalArgumentException("enough"));
              }
              for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> sum(communicator))
                    .isInstanceOfSatisfying(
                        CollectiveException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.USER_CODE_FAILED))
                    .hasMessageContaining("enough");
              }
              return "";
            });
  }

  @ParameterizedTest
  @EnumSource
  void shouldWriteNothingIntoMemoryThatAKilledTaskFillsAgain(KilledFold.Kill kill) {
    KilledFold.repeat(groups(), kill);
  }
}
