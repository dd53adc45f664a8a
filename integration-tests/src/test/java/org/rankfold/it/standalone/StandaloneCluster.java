// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.standalone;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rankfold.it.net.Place;

/**
 * A master and workers, each a process, on ports the system chose. {@link #stop} and {@link #close}
 * end all of them and wait until they are gone.
 */
final class StandaloneCluster implements AutoCloseable {
  private static final Path ROOT = Path.of(System.getProperty("rankfold.root"));
  private static final Path EXAMPLES = ROOT.resolve("examples/target");
  private static final Pattern MASTER = Pattern.compile("Starting Spark master at (spark://\\S+)");
  private static final String REGISTERED = "Successfully registered with master";
  private static final long START_S = 120;
  private static final long STOP_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long PACE_MS = 20;

  private final Path folder;
  private final Place head;
  private final Path home;
  private final List<Process> daemons = new ArrayList<>();
  private String master;

  private StandaloneCluster(Path folder, Place head) {
    this.folder = folder;
    this.head = head;
    this.home = folder.resolve("spark-home");
  }

  /**
   * Starts a master and workers; blocks until all workers have registered.
   *
   * @param folder where everything is written; its path marks the cluster's processes
   * @param cores of each worker
   * @param head where the master and drivers run
   * @param workers where the workers run
   */
  static StandaloneCluster start(Path folder, int cores, Place head, Place... workers)
      throws Exception {
    StandaloneCluster cluster = new StandaloneCluster(folder, head);
    try {
      cluster.makeHome();
      cluster.startMaster();
      for (Place worker : workers) {
        cluster.startWorker(worker, cores);
      }
      for (Place worker : workers) {
        cluster.await("worker-" + worker.address(), REGISTERED);
      }
      return cluster;
    } catch (Exception | Error e) {
      cluster.stop();
      throw e;
    }
  }

  /** The jars of Spark, and nothing of ours. */
  private void makeHome() throws IOException {
    Path jars = Files.createDirectories(home.resolve("jars"));
    for (String jar : Files.readString(EXAMPLES.resolve("classpath.txt")).trim().split(":", -1)) {
      Path path = Path.of(jar);
      Files.createSymbolicLink(jars.resolve(path.getFileName()), path);
    }
    Path conf = Files.createDirectories(home.resolve("conf"));
    Files.writeString(
        conf.resolve("log4j2.properties"),
        """
        rootLogger.level = info
        rootLogger.appenderRef.stderr.ref = stderr
        appender.stderr.type = Console
        appender.stderr.name = stderr
        appender.stderr.target = SYSTEM_ERR
        appender.stderr.layout.type = PatternLayout
        appender.stderr.layout.pattern = %d{HH:mm:ss.SSS} %-5p %c{1}: %m%n%ex
        """);
  }

  private void startMaster() throws Exception {
    daemons.add(
        daemon(
            head,
            "master",
            "org.apache.spark.deploy.master.Master",
            "--host",
            head.address(),
            "--port",
            "0",
            "--webui-port",
            "0"));
    Matcher started = MASTER.matcher(await("master", "Starting Spark master at "));
    if (!started.find()) {
      throw new IOException("the master does not say its URL: " + log("master"));
    }
    master = started.group(1);
  }

  private void startWorker(Place place, int cores) throws IOException {
    daemons.add(
        daemon(
            place,
            "worker-" + place.address(),
            "org.apache.spark.deploy.worker.Worker",
            "--host",
            place.address(),
            "--cores",
            Integer.toString(cores),
            "--memory",
            "2g",
            "--webui-port",
            "0",
            "-d",
            folder.resolve("work-" + place.address()).toString(),
            master));
  }

  private Process daemon(Place place, String name, String main, String... arguments)
      throws IOException {
    List<String> command = java("512m");
    command.add(main);
    command.addAll(List.of(arguments));
    return process(place, name, command).start();
  }

  /** A JVM on Spark's jars alone, with the flags that bin/rankfold gives. */
  private List<String> java(String heap) {
    return new ArrayList<>(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx" + heap,
            "@" + EXAMPLES.resolve("launcher/jvm.flags"),
            "-Djava.io.tmpdir=" + folder,
            "-cp",
            home.resolve("conf") + ":" + home.resolve("jars") + "/*"));
  }

  private ProcessBuilder process(Place place, String name, List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(place.command(command)).directory(folder.toFile());
    builder
        .environment()
        .putAll(
            Map.of(
                "SPARK_LOCAL_IP", place.address(),
                "SPARK_HOME", home.toString(),
                "SPARK_SCALA_VERSION", "2.13",
                "JAVA_HOME", System.getProperty("java.home")));
    return builder
        .redirectOutput(folder.resolve(name + ".out").toFile())
        .redirectError(folder.resolve(name + ".err").toFile());
  }

  /** Where spark-submit submits to. */
  String master() {
    return master;
  }

  /** The folder that stands for SPARK_HOME. */
  Path home() {
    return home;
  }

  /**
   * Submits an application by SparkSubmit and waits for its end.
   *
   * @param name of its logs
   * @param arguments SparkSubmit's, without the master
   * @return what it printed
   */
  List<String> submit(String name, String... arguments) throws Exception {
    List<String> command = java("1g");
    command.addAll(List.of("org.apache.spark.deploy.SparkSubmit", "--master", master));
    command.addAll(List.of("--conf", "spark.driver.host=" + head.address()));
    command.addAll(List.of("--conf", "spark.ui.enabled=false"));
    command.addAll(List.of("--conf", "spark.executor.memory=768m"));
    command.addAll(
        List.of("--conf", "spark.scheduler.barrier.maxConcurrentTasksCheck.interval=1s"));
    command.addAll(List.of("--conf", "spark.rankfold.timeout.slots=120s"));
    command.addAll(List.of("--conf", "spark.plugins=org.rankfold.spark.RankfoldPlugin"));
    command.addAll(List.of(arguments));
    Process process = process(head, name, command).start();
    if (!process.waitFor(20, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new IOException(name + " goes on: " + log(name));
    }
    if (process.exitValue() != 0) {
      throw new IOException(name + " exit=" + process.exitValue() + ": " + log(name));
    }
    return Files.readAllLines(folder.resolve(name + ".out"), StandardCharsets.UTF_8);
  }

  /** Executors that run now. */
  List<ProcessHandle> executors() {
    return daemons.stream().flatMap(daemon -> daemon.toHandle().descendants()).toList();
  }

  /** Ports that a process of the cluster listens on. */
  Set<Integer> ports() throws IOException {
    Set<Integer> ports = new TreeSet<>();
    for (Process daemon : daemons) {
      ports.addAll(Listening.ports(daemon.pid()));
    }
    return ports;
  }

  /** Processes of this machine that belong to the cluster, however they were started. */
  List<ProcessHandle> processes() {
    return ProcessHandle.allProcesses()
        .filter(process -> process.pid() != ProcessHandle.current().pid() && isOurs(process))
        .toList();
  }

  private boolean isOurs(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"))
          .contains(folder.toString());
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  private String await(String name, String words) throws Exception {
    long startNs = System.nanoTime();
    Path err = folder.resolve(name + ".err");
    while (true) {
      for (String line : Files.readAllLines(err, StandardCharsets.UTF_8)) {
        if (line.contains(words)) {
          return line;
        }
      }
      if (System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(START_S)) {
        throw new IOException(name + " does not say " + words + ": " + log(name));
      }
      Thread.sleep(PACE_MS);
    }
  }

  private String log(String name) throws IOException {
    List<String> lines = Files.readAllLines(folder.resolve(name + ".err"), StandardCharsets.UTF_8);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
  }

  /**
   * Ends the cluster as a user does, by SIGTERM to master and workers; kills what is there after
   * ten seconds.
   *
   * @return the processes that had to be killed
   */
  List<ProcessHandle> stop() throws InterruptedException {
    daemons.forEach(Process::destroy);
    long startNs = System.nanoTime();
    while (!processes().isEmpty() && System.nanoTime() - startNs < STOP_NS) {
      Thread.sleep(PACE_MS);
    }
    List<ProcessHandle> left = processes();
    left.forEach(ProcessHandle::destroyForcibly);
    for (Process daemon : daemons) {
      daemon.waitFor();
    }
    return left;
  }

  @Override
  public void close() {
    try {
      stop();
    } catch (InterruptedException e) {
      processes().forEach(ProcessHandle::destroyForcibly);
      Thread.currentThread().interrupt();
    }
  }
}
