// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.Metric;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.metrics.source.Source;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.spark.executor.ExecutorProcess;
import scala.jdk.javaapi.CollectionConverters;

/** Applications one after the other in this JVM, with the plugin. */
class RankfoldPluginTest {
  @Test
  void shouldCountGroupsAndCallsWhenApplicationsFollowOneAnother() {
    SparkConf conf = LocalSpark.conf(2).set("spark.plugins", RankfoldPlugin.class.getName());
    for (int application = 0; application < 2; application++) {
      try (JavaSparkContext spark = new JavaSparkContext(conf)) {
        assertThat(spark.sc().isStopped()).isFalse();
        SparkSession session = SparkSession.builder().getOrCreate();
        session.conf().set("spark.rankfold.seed", "42");
        assertThat(
                Rankfold.on(session)
                    .world(2)
                    .run(
                        context -> {
                          context.progress("step", 0.5);
                          context.communicator().barrier();
                          return context.seeds(0).nextLong();
                        }))
            .containsOnly(SeedStream.of(42, 0).nextLong())
            .hasSize(2);
        assertThat(
                Rankfold.on(session)
                    .world(2)
                    .run(
                        session.range(0, 6, 1, 2),
                        (RankContext context, Iterator<Long> rows) -> {
                          long sum = 0;
                          while (rows.hasNext()) {
                            sum += rows.next();
                          }
                          return sum;
                        }))
            .containsExactly(3L, 12L);
        assertThat(ExecutorProcess.CURRENT.metrics()).isNotSameAs(CollectiveMetrics.NONE);
        long startNs = System.nanoTime();
        while (gauge("groups.ended") < 2
            && System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(5)) {
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        assertThat(gauge("groups.ended")).isEqualTo(2);
        assertThat(gauge("groups.active")).isZero();
        assertThat(gauge("groups.failed")).isZero();
      }
      assertThat(ExecutorProcess.CURRENT.metrics()).isSameAs(CollectiveMetrics.NONE);
    }
  }

  private static long gauge(String name) {
    String source = "plugin." + RankfoldPlugin.class.getName();
    long sum = 0;
    for (Source registered :
        CollectionConverters.asJava(SparkEnv.get().metricsSystem().getSourcesByName(source))) {
      Metric metric = registered.metricRegistry().getMetrics().get(name);
      if (metric instanceof Gauge<?> gauge) {
        sum += ((Number) gauge.getValue()).longValue();
      }
    }
    return sum;
  }
}
