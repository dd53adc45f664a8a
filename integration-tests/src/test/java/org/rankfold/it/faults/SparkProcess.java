// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;

/**
 * A driver in a JVM of its own, with the flags and the class path of this one; what it prints goes
 * to files of a folder. Closing it ends whatever it has started.
 */
final class SparkProcess implements AutoCloseable {
  private static final long PACE_MS = 5;

  private final Path folder;
  private final Process process;

  private SparkProcess(Path folder, Process process) {
    this.folder = folder;
    this.process = process;
  }

  /** Starts a main class; {@code folder} is its first argument and holds its temporary files. */
  static SparkProcess start(Path folder, Class<?> main, String... arguments) throws IOException {
    Path temporary = Files.createDirectories(folder.resolve("tmp"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--add-") || flag.startsWith("-XX:+Ignore"))
        .forEach(command::add);
    command.addAll(List.of("-ea", "-Xmx1g", "-Djava.io.tmpdir=" + temporary));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.add(folder.toString());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    builder.environment().put("SPARK_SCALA_VERSION", "2.13");
    builder.environment().put("SPARK_HOME", sparkHome(folder).toString());
    return start(folder, builder);
  }

  /** Starts any command. */
  static SparkProcess start(Path folder, ProcessBuilder builder) throws IOException {
    File out = folder.resolve("out").toFile();
    File err = folder.resolve("err").toFile();
    return new SparkProcess(folder, builder.redirectOutput(out).redirectError(err).start());
  }

  /** All that Spark's workers need of a distribution: a jar that names the class path. */
  private static Path sparkHome(Path folder) throws IOException {
    Path home = folder.resolve("spark-home");
    Path jars = Files.createDirectories(home.resolve("jars"));
    List<String> paths = List.of(System.getProperty("java.class.path").split(File.pathSeparator));
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest
        .getMainAttributes()
        .put(
            Attributes.Name.CLASS_PATH,
            paths.stream()
                .map(path -> Path.of(path).toUri().toString())
                .collect(Collectors.joining(" ")));
    try (JarOutputStream jar =
        new JarOutputStream(Files.newOutputStream(jars.resolve("path.jar")), manifest)) {
      jar.finish();
    }
    return home;
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  List<String> lines() throws IOException {
    return Files.readAllLines(folder.resolve("out"));
  }

  /** What went to standard error, for messages. */
  String errors() {
    try {
      return Files.readString(folder.resolve("err"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** The first line that begins so, once it is there. */
  String awaitLine(String beginning, long seconds) throws IOException, InterruptedException {
    return awaitLine(line -> line.startsWith(beginning), beginning, seconds);
  }

  private String awaitLine(Predicate<String> wanted, String what, long seconds)
      throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    while (true) {
      boolean isAlive = process.isAlive();
      for (String line : lines()) {
        if (wanted.test(line)) {
          return line;
        }
      }
      assertTrue(isAlive, () -> "ended before it said " + what + ": " + errors());
      assertTrue(
          System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(seconds),
          () -> "no " + what + " within " + seconds + " s: " + errors());
      Thread.sleep(PACE_MS);
    }
  }

  /** The exit code, once it has ended. */
  int awaitEnd(long seconds) throws InterruptedException {
    assertTrue(
        process.waitFor(seconds, TimeUnit.SECONDS),
        () -> "still running after " + seconds + " s: " + errors());
    return process.exitValue();
  }

  /** Sends a signal to a process, by its name without SIG. */
  static void signal(String name, long pid) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
    assertEquals(0, kill.waitFor(), () -> "kill -" + name + " " + pid);
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
