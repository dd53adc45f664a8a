// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rankfold.examples.RankfoldCommand;
import org.rankfold.it.net.Hosts;
import org.rankfold.it.net.Place;

/** One cluster for all tests: a master and two workers of two slots each. */
@Timeout(600)
class StandaloneIT {
  private static final Path ROOT = Path.of(System.getProperty("rankfold.root"));
  private static final String APP = ROOT.resolve("examples/target/rankfold-app.jar").toString();
  private static final String[] DIGITS = {"digits", "--epochs", "2", "--tasks"};

  /** The README promises this digest. */
  private static final String PROMISED =
      "model sha256=24a8020d583ab6c7490cf87d867b15f3b619abc92a8ddfa3899371c01e74a402";

  @TempDir private static Path folder;
  private static StandaloneCluster cluster;
  private static Path jobs;

  @BeforeAll
  static void startCluster() throws Exception {
    cluster =
        StandaloneCluster.start(
            folder, 2, Place.here("127.0.0.1"), Place.here("127.0.0.2"), Place.here("127.0.0.3"));
    jobs = jar(folder.resolve("jobs.jar"));
  }

  /** Whatever a test found, nothing of the cluster may be left: no process, no port. */
  @AfterAll
  static void assertNothingLeftWhenTheClusterStops() throws Exception {
    Set<Integer> ports = cluster.ports();
    List<ProcessHandle> killed = cluster.stop();
    assertThat(killed).isEmpty();
    assertThat(cluster.processes()).isEmpty();
    assertThat(ports).hasSizeGreaterThanOrEqualTo(6); // one for RPC, one for the UI, of each
    for (int port : ports) {
      new ServerSocket(port).close();
    }
  }

  /** Executors end with their application. */
  @AfterEach
  void assertNoExecutorLeft() throws InterruptedException {
    long startNs = System.nanoTime();
    while (!cluster.executors().isEmpty()
        && System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20)) {
      Thread.sleep(20);
    }
    assertThat(cluster.executors()).isEmpty();
  }

  @Test
  void shouldGiveTheBitsOfOneProcessWhenJarsTravelWithTheApplication() throws Exception {
    try (Stream<Path> jars = Files.list(cluster.home().resolve("jars"))) {
      assertThat(jars.map(Path::toString)).isNotEmpty().noneMatch(jar -> jar.contains("rankfold-"));
    }
    List<String> printed =
        cluster.submit(
            "jobs", "--jars", APP, "--class", ClusterJobs.class.getName(), jobs.toString());
    assertThat(printed).hasSize(5);
    String[] equal = printed.get(0).split(" ", -1);
    assertEquals(equal[3], equal[1], printed::toString);
    assertThat(Integer.parseInt(equal[1])).isGreaterThan(200);
    assertEquals("PROCESSES 2", printed.get(1));
    assertEquals("PARALLEL true", printed.get(4));
    try (JavaSparkContext spark =
        new JavaSparkContext(
            new SparkConf()
                .setMaster("local[2]")
                .setAppName("fits")
                .set("spark.ui.enabled", "false"))) {
      String first = ClusterJobs.fit(spark, 42, 1);
      String second = ClusterJobs.fit(spark, 43, 2);
      assertThat(first).isNotEqualTo(second);
      assertEquals("FIT 42 " + first, printed.get(2));
      assertEquals("FIT 43 " + second, printed.get(3));
    }
  }

  @Test
  void shouldTrainDigitsToTheBitsOfOneProcess() throws Exception {
    List<String> printed = digits(cluster, "digits", "client");
    assertEquals(local(), printed);
  }

  @Test
  @Tag("nightly")
  void shouldTrainDigitsToTheSameBitsWhenWorkersAreOnOtherHosts(@TempDir Path other)
      throws Exception {
    Optional<String> obstacle = Hosts.obstacle();
    assumeTrue(obstacle.isEmpty(), () -> "no network namespaces here: " + obstacle.orElseThrow());
    try (Hosts hosts = Hosts.make(3, false);
        StandaloneCluster apart =
            StandaloneCluster.start(other, 2, hosts.place(0), hosts.place(1), hosts.place(2))) {
      assertEquals(local(), digits(apart, "digits", "client"));
      List<String> whole = digits(apart, "promised", "client", "digits", "--tasks");
      assertEquals(PROMISED, whole.get(whole.size() - 1));
      assertThat(apart.stop()).isEmpty();
    }
  }

  /** The driver itself runs on a worker; what it prints is in the worker's folder. */
  @Test
  @Tag("nightly")
  void shouldTrainDigitsToTheSameBitsWhenTheDriverRunsOnAWorker() throws Exception {
    digits(cluster, "digits-cluster", "cluster");
    List<Path> outputs = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      files.filter(file -> file.toString().matches(".*/driver-[^/]*/stdout")).forEach(outputs::add);
    }
    assertThat(outputs).hasSize(1);
    assertEquals(local(), Files.readAllLines(outputs.get(0)));
  }

  private static List<String> digits(StandaloneCluster cluster, String name, String mode)
      throws Exception {
    return digits(cluster, name, mode, DIGITS);
  }

  private static List<String> digits(
      StandaloneCluster cluster, String name, String mode, String... job) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("--deploy-mode", mode));
    if (mode.equals("cluster")) {
      arguments.addAll(List.of("--driver-memory", "512m", "--driver-cores", "1"));
      arguments.addAll(List.of("--conf", "spark.cores.max=3"));
      arguments.addAll(List.of("--conf", "spark.standalone.submit.waitAppCompletion=true"));
    }
    // Workers on hosts made of network namespaces could share memory; the network is meant.
    arguments.addAll(List.of("--conf", "spark.rankfold.transport=tcp"));
    arguments.addAll(List.of("--class", RankfoldCommand.class.getName(), APP));
    arguments.addAll(List.of(job));
    arguments.add("3");
    return cluster.submit(name, arguments.toArray(String[]::new));
  }

  private static List<String> local() {
    List<String> arguments = new ArrayList<>(List.of(DIGITS));
    arguments.addAll(List.of("2", "--master", "local[2]"));
    StringWriter printed = new StringWriter();
    int code =
        RankfoldCommand.commandLine()
            .setOut(new PrintWriter(printed, true))
            .execute(arguments.toArray(String[]::new));
    assertEquals(0, code, printed::toString);
    return printed.toString().lines().toList();
  }

  /** The classes of this package, as a user would package his own. */
  static Path jar(Path file) throws IOException {
    String name = ClusterJobs.class.getPackageName().replace('.', '/');
    Path classes = ROOT.resolve("integration-tests/target/test-classes");
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out);
        Stream<Path> members = Files.list(classes.resolve(name))) {
      for (Path member : (Iterable<Path>) members::iterator) {
        jar.putNextEntry(new JarEntry(name + "/" + member.getFileName()));
        Files.copy(member, jar);
        jar.closeEntry();
      }
    }
    return file;
  }
}
