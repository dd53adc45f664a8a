// SPDX-License-Identifier: Apache-2.0
package org.rankfold.managers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rankfold.errors.CollectiveException;

/**
 * Spark's own Kubernetes backend, with a mock of the API server that keeps and watches objects, and
 * a kubelet that runs executor pods as processes.
 */
@Tag("nightly")
@Timeout(300)
class KubernetesIT {
  private KubernetesMockServer server;
  private KubernetesClient client;
  private FakeKubelet kubelet;
  @TempDir private Path folder;

  @BeforeEach
  void startCluster() throws Exception {
    server =
        new KubernetesMockServer(
            new Context(), new MockWebServer(), new HashMap<>(), new ApiServer(), false);
    server.init(InetAddress.getLoopbackAddress(), 0);
    client = server.createClient();
    kubelet = FakeKubelet.start(client, folder, ManagerJobs.sparkJars());
  }

  @AfterEach
  void stopCluster() {
    kubelet.close();
    client.close();
    server.destroy();
  }

  private SparkConf settings() throws Exception {
    return ManagerJobs.settings(folder, "k8s://http://127.0.0.1:" + server.getPort())
        .set("spark.kubernetes.namespace", client.getNamespace())
        .set("spark.kubernetes.container.image", "none")
        .set("spark.kubernetes.allocation.batch.delay", "200ms")
        .set("spark.kubernetes.executor.podNamePrefix", "rankfold")
        .set("spark.executor.instances", Integer.toString(ManagerJobs.TASKS))
        .set("spark.executor.cores", "1")
        // Real pods share no memory.
        .set("spark.rankfold.transport", "tcp");
  }

  @Test
  void shouldGiveTheBitsOfOneProcessWhenExecutorsArePods() throws Exception {
    try (JavaSparkContext spark = new JavaSparkContext(settings())) {
      List<ManagerJobs.Found> found = ManagerJobs.golden(spark, folder, 0);
      assertThat(found).hasSize(ManagerJobs.TASKS);
      assertThat(found)
          .extracting(ManagerJobs.Found::pid)
          .containsExactlyInAnyOrderElementsOf(kubelet.pods().stream().map(kubelet::pid).toList());
      assertThat(found).allSatisfy(task -> assertRight(task, 1));
    }
    ManagerJobs.await("pods are deleted and end", () -> kubelet.pods().isEmpty());
    assertThat(client.pods().list().getItems()).isEmpty();
    assertNull(kubelet.failure());
  }

  /** The backend replaces a pod that died; the run is submitted anew on the new one. */
  @Test
  void shouldGiveTheSameBitsAgainWhenAPodWasKilled() throws Exception {
    try (JavaSparkContext spark = new JavaSparkContext(settings())) {
      CompletableFuture<List<ManagerJobs.Found>> run =
          CompletableFuture.supplyAsync(() -> ManagerJobs.golden(spark, folder, 1));
      ManagerJobs.awaitMarks(folder, 1);
      List<Long> before = kubelet.pods().stream().map(kubelet::pid).toList();
      kubelet.kill(kubelet.pods().get(1));
      List<ManagerJobs.Found> found = run.get();
      assertThat(found).allSatisfy(task -> assertRight(task, 2));
      assertThat(found).extracting(ManagerJobs.Found::pid).doesNotContain(before.get(1));
    }
    assertNull(kubelet.failure());
  }

  @Test
  void shouldNameTheLostPodWhenNoRunIsSubmittedAnew() throws Exception {
    try (JavaSparkContext spark =
        new JavaSparkContext(settings().set("spark.rankfold.retry.attempts", "0"))) {
      CompletableFuture<CollectiveException> run = ManagerJobs.losing(spark, folder);
      ManagerJobs.awaitMarks(folder, 1);
      long killedNs = System.nanoTime();
      kubelet.kill(kubelet.pods().get(2));
      ManagerJobs.assertLost(run, killedNs, "a pod");
    }
    assertNull(kubelet.failure());
  }

  private static void assertRight(ManagerJobs.Found task, int attempt) {
    assertEquals(ManagerJobs.digests(), task.digests());
    assertEquals(attempt, task.attempt());
  }
}
