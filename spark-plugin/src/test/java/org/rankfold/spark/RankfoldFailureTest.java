// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.View;

/** Runs that end badly: who learns of it, what comes first, what is left behind. */
class RankfoldFailureTest {
  private static final long FIVE_SECONDS_NS = TimeUnit.SECONDS.toNanos(5);

  /** Local mode: tasks share this JVM. */
  private static final Queue<String> ENDS = new ConcurrentLinkedQueue<>();

  private static volatile CountDownLatch inside;
  private static volatile CountDownLatch released;
  private static JavaSparkContext spark;

  @BeforeAll
  static void start() {
    spark = LocalSpark.start(3);
  }

  @AfterAll
  static void stop() {
    spark.close();
  }

  @BeforeEach
  void clear() {
    ENDS.clear();
    inside = new CountDownLatch(3);
    released = new CountDownLatch(1);
  }

  @AfterEach
  void shouldLeaveNoThreadAndWorkNext() {
    assertThat(plan().run(RankContext::task)).containsExactly(0, 1, 2);
    await(() -> rankfoldThreads().isEmpty());
    assertThat(rankfoldThreads()).isEmpty();
  }

  private static List<String> rankfoldThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("rankfold-"))
        .toList();
  }

  private static void await(java.util.function.BooleanSupplier condition) {
    long startNs = System.nanoTime();
    while (!condition.getAsBoolean() && System.nanoTime() - startNs < FIVE_SECONDS_NS) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
    }
  }

  private static Rankfold plan() {
    return Rankfold.on(spark).world(3).tasks(3).name("failing");
  }

  private static void allReduce(RankContext context) {
    float[] x = new float[1];
    context.communicator().allReduce(List.of(View.of(x)), View.of(x));
  }

  /** A rank in a long call of its own, another in a collective, until the group is lost. */
  private static void work(RankContext context) {
    inside.countDown();
    try {
      if (context.task() == 1) {
        while (true) {
          context.checkAbort();
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
      }
      allReduce(context);
    } catch (CollectiveException e) {
      ENDS.add(context.task() + " " + e.code() + " " + e.getMessage());
      throw e;
    }
  }

  @Test
  void shouldThrowTheFirstCauseWhenABodyThrows() {
    long startNs = System.nanoTime();
    CollectiveException thrown =
        catchThrowableOfType(
            CollectiveException.class,
            () ->
                plan()
                    .run(
                        context -> {
                          if (context.task() == 2) {
                            throw new IllegalStateException("boom");
                          }
                          return endless(context);
                        }));
    await(() -> ENDS.size() == 2);
    assertThat(System.nanoTime() - startNs).isLessThan(FIVE_SECONDS_NS);
    assertThat(thrown.code()).isEqualTo(ErrorCode.USER_CODE_FAILED);
    assertThat(thrown)
        .hasMessage("logical rank 2 (task 2) failed: java.lang.IllegalStateException: boom")
        .hasCauseExactlyInstanceOf(IllegalStateException.class);
    assertThat(thrown.getCause().getStackTrace()[0].getClassName())
        .startsWith(RankfoldFailureTest.class.getName());
    assertThat(ENDS)
        .hasSize(2)
        .allMatch(end -> end.contains("USER_CODE_FAILED"), "code")
        .allMatch(end -> end.contains("logical rank 2 (task 2) failed"), "first cause");
  }

  @Test
  void shouldThrowTheUsageErrorWhenLengthsDiffer() {
    CollectiveException e =
        catchThrowableOfType(
            CollectiveException.class,
            () ->
                plan()
                    .run(
                        context -> {
                          float[] x = new float[context.task() == 1 ? 9 : 7];
                          try {
                            context.communicator().allReduce(List.of(View.of(x)), View.of(x));
                          } catch (CollectiveException own) {
                            ENDS.add(own.code() + " " + own.getMessage());
                            throw own;
                          }
                          return 0;
                        }));
    await(() -> ENDS.size() == 3);
    assertThat(e.code()).isEqualTo(ErrorCode.COUNT_MISMATCH);
    assertThat(e).hasMessage("rank=1 length=9 != rank=0 length=7");
    assertThat(ENDS).hasSize(3).containsOnly("COUNT_MISMATCH rank=1 length=9 != rank=0 length=7");
  }

  @Test
  void shouldEndEveryTaskWhenTheJobGroupIsCancelled() throws Exception {
    Cancelled run = cancelled(plan(), false, RankfoldFailureTest::endless);
    await(() -> ENDS.size() == 3);
    assertThat(System.nanoTime() - run.sinceNs()).isLessThan(FIVE_SECONDS_NS);
    assertThat(ENDS).hasSize(3).allMatch(end -> end.contains(" CANCELLED "), "cancelled");
    assertThat(run.thrown().code()).isEqualTo(ErrorCode.CANCELLED);
  }

  private static Integer endless(RankContext context) {
    work(context);
    return 0;
  }

  /** A body that waits for something of its own, deaf to all but an interrupt. */
  private static Integer asleep(RankContext context) throws InterruptedException {
    inside.countDown();
    try {
      if (released.await(60, TimeUnit.SECONDS)) {
        context.checkAbort();
      }
      return 0;
    } catch (InterruptedException | CollectiveException e) {
      ENDS.add(context.task() + " " + e.getClass().getSimpleName());
      throw e;
    }
  }

  /** What a run that was cancelled threw, and since when it was. */
  private record Cancelled(CollectiveException thrown, long sinceNs) {}

  /** Cancels a run once a task is in its body, as {@code setJobGroup} says. */
  private static Cancelled cancelled(
      Rankfold plan, boolean isSparkAsked, RankFunction<Integer> body) throws Exception {
    CompletableFuture<Throwable> result = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              spark.setJobGroup("doomed", "to be cancelled", isSparkAsked);
              Throwable thrown = catchThrowable(() -> plan.run(body));
              assertThat(spark.getLocalProperty("spark.job.interruptOnCancel"))
                  .isEqualTo(Boolean.toString(isSparkAsked));
              result.complete(thrown);
            });
    caller.start();
    assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
    long sinceNs = System.nanoTime();
    spark.cancelJobGroup("doomed");
    Throwable thrown = result.get(30, TimeUnit.SECONDS);
    caller.join();
    assertThat(thrown).isInstanceOf(CollectiveException.class);
    return new Cancelled((CollectiveException) thrown, sinceNs);
  }

  @ParameterizedTest
  @CsvSource({"true, inherit", "false, true"})
  void shouldInterruptABodyAsleepWhenEitherSettingSaysSo(boolean isSparkAsked, String ours)
      throws Exception {
    long startNs = System.nanoTime();
    CollectiveException thrown =
        cancelled(
                plan().set("spark.rankfold.interruptOnCancel", ours),
                isSparkAsked,
                RankfoldFailureTest::asleep)
            .thrown();
    await(() -> ENDS.size() == 3);
    assertThat(System.nanoTime() - startNs).isLessThan(FIVE_SECONDS_NS);
    assertThat(ENDS).hasSize(3).allMatch(end -> end.endsWith(" InterruptedException"));
    assertThat(thrown.code()).isEqualTo(ErrorCode.CANCELLED);
  }

  @Test
  void shouldLetABodySleepOnWhenNeitherSettingSaysSo() throws Exception {
    CollectiveException thrown = cancelled(plan(), false, RankfoldFailureTest::asleep).thrown();
    assertThat(thrown.code()).isEqualTo(ErrorCode.CANCELLED);
    TimeUnit.SECONDS.sleep(1); // ten looks at the kill flag
    assertThat(ENDS).isEmpty();
    released.countDown();
    await(() -> ENDS.size() == 3);
    assertThat(ENDS).hasSize(3).allMatch(end -> end.endsWith(" CollectiveException"));
  }

  @Test
  void shouldInterruptTheOthersAsleepWhenOneFails() {
    long startNs = System.nanoTime();
    CollectiveException thrown =
        catchThrowableOfType(
            CollectiveException.class,
            () ->
                plan()
                    .set("spark.rankfold.interruptOnCancel", "true")
                    .run(
                        context -> {
                          if (context.task() == 2) {
                            inside.countDown();
                            inside.await();
                            throw new IllegalStateException("boom");
                          }
                          return asleep(context);
                        }));
    await(() -> ENDS.size() == 2);
    assertThat(System.nanoTime() - startNs).isLessThan(FIVE_SECONDS_NS);
    assertThat(ENDS).hasSize(2).allMatch(end -> end.endsWith(" InterruptedException"));
    // The first cause, not the interrupts it led to.
    assertThat(thrown.code()).isEqualTo(ErrorCode.USER_CODE_FAILED);
    assertThat(thrown).hasMessageContaining("boom");
  }

  @Test
  void shouldEndACallAsCancelledWhenItIsInterrupted() throws Exception {
    Cancelled run = cancelled(plan(), true, RankfoldFailureTest::endless);
    await(() -> ENDS.size() == 3);
    assertThat(ENDS).hasSize(3).allMatch(end -> end.contains(" CANCELLED "), "cancelled");
    assertThat(run.thrown().code()).isEqualTo(ErrorCode.CANCELLED);
  }

  @Test
  void shouldCancelTheJobWhenTheCallerIsInterrupted() throws Exception {
    CompletableFuture<Throwable> result = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              Throwable thrown = catchThrowable(() -> plan().run(RankfoldFailureTest::endless));
              assertThat(Thread.interrupted()).isTrue();
              result.complete(thrown);
            });
    caller.start();
    assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
    caller.interrupt();
    Throwable thrown = result.get(30, TimeUnit.SECONDS);
    await(() -> ENDS.size() == 3);
    assertThat(ENDS).hasSize(3);
    assertThat(((CollectiveException) thrown).code()).isEqualTo(ErrorCode.CANCELLED);
    caller.join();
  }

  @Test
  void shouldFailEveryTaskWhenTheRunTakesTooLong() {
    CollectiveException e =
        catchThrowableOfType(
            CollectiveException.class,
            () ->
                plan()
                    .set("spark.rankfold.timeout.run", "300ms")
                    .run(RankfoldFailureTest::endless));
    await(() -> ENDS.size() == 3);
    assertThat(e.code()).isEqualTo(ErrorCode.TIMEOUT);
    assertThat(e).hasMessageContaining("spark.rankfold.timeout.run");
    assertThat(ENDS).hasSize(3);
  }

  @Test
  void shouldCarryTheTextWhenTheExceptionCannotTravel() {
    CollectiveException e =
        catchThrowableOfType(
            CollectiveException.class,
            () ->
                plan()
                    .run(
                        context -> {
                          throw new Unserializable("stays here");
                        }));
    assertThat(e.getCause()).hasMessageContaining("stays here");
    assertThat(e.getCause().getStackTrace()[0].getMethodName()).startsWith("lambda$");
  }

  private static final class Unserializable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings({"serial", "unused"}) // what makes it unserializable
    private final Object ballast = new Object();

    Unserializable(String message) {
      super(message);
    }
  }

  @Test
  void shouldFormAGroupWhenTheBarrierStageIsTheUsersOwn() {
    List<Float> sums =
        BarrierStage.collect(
            spark.parallelize(List.of(1, 2, 3), 3),
            rows -> {
              try (RankContext context = RankContext.open(BarrierTaskContext.get(), 3)) {
                float[] x = {rows.next()};
                context.communicator().allReduce(List.of(View.of(x)), View.of(x));
                return x[0];
              }
            });
    assertThat(sums).containsExactly(6f, 6f, 6f);
  }

  @Test
  void shouldEndTheOthersWithTheFirstCauseWhenTheUsersOwnStageThrows() {
    Throwable thrown =
        catchThrowable(
            () ->
                BarrierStage.collect(
                    spark.parallelize(List.of(1, 2, 3), 3),
                    rows -> {
                      try (RankContext context = RankContext.open(BarrierTaskContext.get(), 3)) {
                        if (context.task() == 2) {
                          throw new IllegalStateException("boom");
                        }
                        work(context);
                        return 0;
                      }
                    }));
    await(() -> ENDS.size() == 2);
    assertThat(thrown).hasMessageContaining("boom");
    assertThat(ENDS)
        .hasSize(2)
        .allMatch(end -> end.contains("java.lang.IllegalStateException: boom"), "first cause");
  }

  @Test
  void shouldTellEveryTaskWhenTheirWorldsDiffer() {
    Throwable thrown =
        catchThrowable(
            () ->
                BarrierStage.collect(
                    spark.parallelize(List.of(1, 2, 3), 3),
                    rows -> {
                      int task = BarrierTaskContext.get().partitionId();
                      try {
                        return RankContext.open(BarrierTaskContext.get(), task == 1 ? 2 : 3);
                      } catch (CollectiveException e) {
                        ENDS.add(task + " " + e.code() + " " + e.getMessage());
                        throw e;
                      }
                    }));
    await(() -> ENDS.size() == 3);
    assertThat(thrown).isNotNull();
    assertThat(ENDS)
        .hasSize(3)
        .allMatch(end -> end.contains(" INVALID_WORLD "), "code")
        .allMatch(end -> end.contains("task 1 (executor driver"), "who")
        .allMatch(end -> end.contains("tasks=3 > world=2"), "relation");
  }
}
