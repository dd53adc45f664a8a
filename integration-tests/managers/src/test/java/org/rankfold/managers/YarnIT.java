// SPDX-License-Identifier: Apache-2.0
package org.rankfold.managers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rankfold.errors.CollectiveException;

/**
 * Spark's own YARN backend on YARN's mini cluster: one resource manager and two node managers in
 * this JVM, application master and executors in containers, each a process.
 */
@Tag("nightly")
@Timeout(300)
class YarnIT {
  private static final int NODES = 2;
  private static MiniYARNCluster yarn;
  @TempDir private static Path cluster;
  @TempDir private Path folder;

  @BeforeAll
  static void startCluster() throws Exception {
    YarnConfiguration settings = new YarnConfiguration();
    settings.set(
        "yarn.resourcemanager.scheduler.class",
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler");
    settings.set("yarn.nodemanager.pmem-check-enabled", "false");
    settings.set("yarn.nodemanager.vmem-check-enabled", "false");
    settings.set("yarn.scheduler.minimum-allocation-mb", "128");
    settings.set(
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "100");
    System.setProperty("test.build.data", cluster.toString());
    yarn = new MiniYARNCluster("rankfold", NODES, 1, 1);
    yarn.init(settings);
    yarn.start();
    assertTrue(yarn.waitForNodeManagersToConnect(60_000), "nodes=" + NODES);
  }

  @AfterAll
  static void stopCluster() {
    if (yarn != null) {
      yarn.stop();
    }
  }

  private SparkConf settings() throws Exception {
    SparkConf settings =
        ManagerJobs.settings(folder, "yarn")
            .set("spark.submit.deployMode", "client")
            .set("spark.executor.instances", Integer.toString(ManagerJobs.TASKS))
            .set("spark.executor.cores", "1")
            .set("spark.yarn.am.memory", "512m")
            .set("spark.yarn.stagingDir", folder.resolve("staging").toUri().toString())
            .set(
                "spark.yarn.jars",
                ManagerJobs.sparkJars().stream()
                    .map(jar -> "local:" + jar)
                    .collect(Collectors.joining(",")));
    for (Map.Entry<String, String> entry : yarn.getConfig()) {
      if (entry.getKey().startsWith("yarn.resourcemanager.")) {
        settings.set("spark.hadoop." + entry.getKey(), yarn.getConfig().get(entry.getKey()));
      }
    }
    return settings;
  }

  @Test
  void shouldGiveTheBitsOfOneProcessWhenExecutorsAreContainers() throws Exception {
    try (JavaSparkContext spark = new JavaSparkContext(settings())) {
      List<ManagerJobs.Found> found = ManagerJobs.golden(spark, folder, 0);
      assertThat(found).hasSize(ManagerJobs.TASKS);
      assertThat(found).extracting(ManagerJobs.Found::pid).doesNotHaveDuplicates();
      assertThat(found).allSatisfy(task -> assertRight(task, 1));
    }
  }

  /** YARN gives a container for the one that died; the run is submitted anew on it. */
  @Test
  void shouldGiveTheSameBitsAgainWhenAContainerWasKilled() throws Exception {
    try (JavaSparkContext spark = new JavaSparkContext(settings())) {
      CompletableFuture<List<ManagerJobs.Found>> run =
          CompletableFuture.supplyAsync(() -> ManagerJobs.golden(spark, folder, 1));
      long victim = killOne(1);
      List<ManagerJobs.Found> found = run.get();
      assertThat(found).allSatisfy(task -> assertRight(task, 2));
      assertThat(found).extracting(ManagerJobs.Found::pid).doesNotContain(victim);
    }
  }

  @Test
  void shouldNameTheLostPeerWhenNoRunIsSubmittedAnew() throws Exception {
    try (JavaSparkContext spark =
        new JavaSparkContext(settings().set("spark.rankfold.retry.attempts", "0"))) {
      CompletableFuture<CollectiveException> run = ManagerJobs.losing(spark, folder);
      killOne(2);
      long killedNs = System.nanoTime();
      ManagerJobs.assertLost(run, killedNs, "a container");
    }
  }

  /** Kills the process of a task that is in its group. */
  private long killOne(int task) throws Exception {
    ManagerJobs.awaitMarks(folder, 1);
    long pid = Long.parseLong(Files.readString(ManagerJobs.mark(folder, 1, task)));
    ProcessHandle.of(pid).orElseThrow().destroyForcibly();
    return pid;
  }

  private static void assertRight(ManagerJobs.Found task, int attempt) {
    assertEquals(ManagerJobs.digests(), task.digests());
    assertEquals(attempt, task.attempt());
  }
}
