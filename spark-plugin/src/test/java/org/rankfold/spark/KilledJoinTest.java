// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rankfold.errors.CollectiveException;
import org.rankfold.spark.bootstrap.AbsentPeer;

/**
 * A peer is gone after the rows were exchanged and before it has connected. Spark fails the stage
 * and tells the others by a flag, without an interrupt; none of them waits out its timeout.
 */
@Timeout(120)
class KilledJoinTest {
  private static final int TASKS = 3;
  private static final long TWO_SECONDS_NS = TimeUnit.SECONDS.toNanos(2);
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);

  /** Local mode: tasks share this JVM. */
  private static final Queue<String> ENDS = new ConcurrentLinkedQueue<>();

  private static final CountDownLatch ROWS = new CountDownLatch(1);
  private static final CountDownLatch OVER = new CountDownLatch(1);

  @Test
  void shouldEndAJoinThatMissesAPeerWhenSparkKillsTheTask() throws Exception {
    try (JavaSparkContext spark =
        new JavaSparkContext(
            LocalSpark.conf(TASKS)
                .set("spark.rankfold.transport", "tcp")
                .set("spark.rankfold.timeout.connect", "60s"))) {
      CompletableFuture<Throwable> result = new CompletableFuture<>();
      Thread caller =
          new Thread(
              () -> {
                spark.setJobGroup("doomed", "a peer is gone", false);
                result.complete(
                    catchThrowable(
                        () ->
                            BarrierStage.collect(
                                spark.parallelize(List.of(0, 1, 2), TASKS), rows -> join())));
              });
      caller.start();
      assertThat(ROWS.await(60, TimeUnit.SECONDS)).isTrue();
      TimeUnit.SECONDS.sleep(1);
      assertThat(ENDS).isEmpty();
      long startNs = System.nanoTime();
      spark.cancelJobGroup("doomed");
      while (ENDS.size() < TASKS - 1 && System.nanoTime() - startNs < PATIENCE_NS) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
      long tookNs = System.nanoTime() - startNs;
      OVER.countDown();
      assertThat(tookNs).isLessThan(TWO_SECONDS_NS);
      assertThat(ENDS)
          .hasSize(TASKS - 1)
          .allMatch(end -> end.startsWith("CANCELLED interrupted while connecting"), "cancelled")
          .allMatch(end -> end.contains("logical rank 2 (task 2)"), "who is missing");
      assertThat(result.get(30, TimeUnit.SECONDS)).hasMessageContaining("cancelled");
      caller.join();
    }
  }

  private static int join() throws InterruptedException {
    BarrierTaskContext task = BarrierTaskContext.get();
    if (task.partitionId() == TASKS - 1) {
      AbsentPeer.exchangeRows(task, TASKS);
      ROWS.countDown();
      OVER.await();
      return 0;
    }
    try (RankContext context = RankContext.open(task, TASKS)) {
      ENDS.add("joined");
      return context.task();
    } catch (CollectiveException e) {
      ENDS.add(e.code() + " " + e.getMessage());
      throw e;
    }
  }
}
