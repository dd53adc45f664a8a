// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.view.View;

/** Runs that end well, and plans that are refused before a job starts. */
class RankfoldTest {
  private static final int WORLD = 8;
  private static final int COUNT = 1000;

  private static JavaSparkContext spark;

  @BeforeAll
  static void start() {
    spark = LocalSpark.start(4);
  }

  @AfterAll
  static void stop() {
    spark.close();
  }

  private static Rankfold plan(int tasks) {
    return Rankfold.on(spark).world(WORLD).tasks(tasks);
  }

  /** Addends over twelve powers of ten: their sums differ with the order. */
  private static float[] addend(SeedStream seeds) {
    float[] x = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      x[i] = (float) ((seeds.nextDouble() - 0.5) * StrictMath.pow(10, seeds.nextInt(12)));
    }
    return x;
  }

  private static float[] allReduce(RankContext context) {
    List<View> addends = new ArrayList<>();
    for (int r = 0; r < context.rankCount(); r++) {
      addends.add(View.of(addend(context.seeds(context.firstRank() + r))));
    }
    float[] out = new float[COUNT];
    context.communicator().allReduce(addends, View.of(out));
    return out;
  }

  private static float[] leftFold(List<Integer> ranks) {
    float[] sum = addend(SeedStream.of(7, ranks.get(0)));
    for (int rank : ranks.subList(1, ranks.size())) {
      float[] x = addend(SeedStream.of(7, rank));
      for (int i = 0; i < COUNT; i++) {
        sum[i] += x[i];
      }
    }
    return sum;
  }

  @Test
  void shouldGiveTheSameBitsWhenTasksDiffer() {
    List<Integer> ranks = new ArrayList<>();
    for (int rank = 0; rank < WORLD; rank++) {
      ranks.add(rank);
    }
    float[] expected = leftFold(ranks);
    Collections.reverse(ranks);
    assertThat(leftFold(ranks)).isNotEqualTo(expected);
    for (int tasks = 1; tasks <= 4; tasks++) {
      List<float[]> results =
          plan(tasks).set("spark.rankfold.seed", "7").run(RankfoldTest::allReduce);
      assertThat(results).hasSize(tasks);
      for (float[] result : results) {
        assertThat(Arrays.equals(result, expected)).as("tasks=%d", tasks).isTrue();
      }
    }
  }

  @Test
  void shouldReturnResultsInTaskOrderWhenPartitionsCarryData() {
    List<String> results =
        Rankfold.on(spark)
            .world(5)
            .run(
                spark.parallelize(List.of(10, 20, 30, 40), 3),
                (RankContext context, Iterator<Integer> rows) -> {
                  int sum = 0;
                  while (rows.hasNext()) {
                    sum += rows.next();
                  }
                  return context.task()
                      + ":"
                      + context.firstRank()
                      + "+"
                      + context.rankCount()
                      + ":"
                      + sum;
                });
    assertThat(results).containsExactly("0:0+2:10", "1:2+2:20", "2:4+1:70");
  }

  @Test
  void shouldHostOneRankATaskWhenTheWorldIsSmallerThanTheSlots() {
    List<List<Integer>> results =
        Rankfold.on(spark)
            .world(3)
            .run(
                context ->
                    context.task() == 1
                        ? null
                        : List.of(
                            context.world(),
                            context.tasks(),
                            context.localRank(),
                            context.device().isPresent() ? 1 : 0));
    assertThat(results).containsExactly(List.of(3, 3, 0, 0), null, List.of(3, 3, 2, 0));
  }

  @Test
  void shouldTellEveryRankWhenLengthsDiffer() {
    List<String> errors =
        plan(3)
            .run(
                context -> {
                  int length = context.task() == 2 ? 1024 : 1000;
                  List<View> addends = new ArrayList<>();
                  for (int r = 0; r < context.rankCount(); r++) {
                    addends.add(View.of(new float[length]));
                  }
                  try {
                    context.communicator().allReduce(addends, View.of(new float[length]));
                    return "no error";
                  } catch (CollectiveException e) {
                    context.communicator().barrier();
                    return e.code() + " " + e.getMessage();
                  }
                });
    assertThat(errors)
        .hasSize(3)
        .containsOnly("COUNT_MISMATCH rank=6 length=1024 != rank=0 length=1000");
  }

  private static CollectiveException refusal(Rankfold plan) {
    long startNs = System.nanoTime();
    CollectiveException e =
        catchThrowableOfType(CollectiveException.class, () -> plan.run(RankContext::task));
    assertThat(System.nanoTime() - startNs).as("refused at once").isLessThan(1_000_000_000L);
    return e;
  }

  @Test
  void shouldSayTheArithmeticAtOnceWhenSlotsAreTooFew() {
    CollectiveException e = refusal(plan(5));
    assertThat(e.code()).isEqualTo(ErrorCode.TOO_FEW_SLOTS);
    assertThat(e)
        .hasMessageStartingWith("tasks=5 > slots=4: local[4] has 4 cores / spark.task.cpus=1 = 4");
  }

  @Test
  void shouldRefuseWhenTasksExceedLogicalRanks() {
    CollectiveException e = refusal(Rankfold.on(spark).world(2).tasks(3));
    assertThat(e.code()).isEqualTo(ErrorCode.INVALID_WORLD);
    assertThat(e).hasMessageStartingWith("tasks=3 > world=2");
    assertThat(refusal(Rankfold.on(spark)).code()).isEqualTo(ErrorCode.INVALID_WORLD);
  }

  @Test
  void shouldRefuseWhenPartitionsAreNotTheTasks() {
    CollectiveException e =
        catchThrowableOfType(
            CollectiveException.class,
            () ->
                plan(2)
                    .run(
                        spark.parallelize(List.of(1, 2, 3), 3),
                        (RankContext context, Iterator<Integer> rows) -> context.task()));
    assertThat(e.code()).isEqualTo(ErrorCode.INVALID_WORLD);
    assertThat(e).hasMessageStartingWith("tasks=2 != partitions=3");
  }

  @Test
  void shouldRefuseWhenArenasDoNotFit() {
    CollectiveException e = refusal(plan(2).arenaElements(DType.F64, 1L << 40));
    assertThat(e.code()).isEqualTo(ErrorCode.TOO_LITTLE_MEMORY);
    assertThat(e).hasMessageContaining("arenas of 8 logical ranks 67108864.0 MiB");
  }

  @Test
  void shouldRefuseSettingsWhenUnknownOrMalformed() {
    CollectiveException unknown =
        catchThrowableOfType(
            CollectiveException.class, () -> plan(1).set("spark.rankfold.chunk", "1m"));
    assertThat(unknown.code()).isEqualTo(ErrorCode.INVALID_CONFIG);
    CollectiveException malformed = refusal(plan(1).set("spark.rankfold.chunk.bytes", "much"));
    assertThat(malformed.code()).isEqualTo(ErrorCode.INVALID_CONFIG);
    assertThat(malformed).hasMessageStartingWith("spark.rankfold.chunk.bytes=much");
  }

  @Test
  void shouldNameTheBodyWhenItIsNotSerializable() {
    Object outside = new Object();
    CollectiveException e =
        catchThrowableOfType(
            CollectiveException.class, () -> plan(1).run(context -> outside.hashCode()));
    assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(e).hasMessageContaining("not serializable");
  }

  @Test
  void shouldRefuseWhenTheDataIsCoalescedInTheStage() {
    CollectiveException e =
        catchThrowableOfType(
            CollectiveException.class,
            () ->
                plan(2)
                    .run(
                        spark.parallelize(List.of(1, 2, 3, 4), 4).coalesce(2),
                        (RankContext context, Iterator<Integer> rows) -> context.task()));
    assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED);
    assertThat(e).hasMessageContaining("SPARK-24820");
  }
}
