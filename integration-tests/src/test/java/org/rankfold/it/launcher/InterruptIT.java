// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ctrl-C in the middle of a barrier job that would run for hours. */
@Timeout(300)
class InterruptIT {
  private static final Path ROOT = Path.of(System.getProperty("rankfold.root"));

  /** How long everything may take to be gone; it takes about one second. */
  private static final long GONE_NS = TimeUnit.SECONDS.toNanos(5);

  /** 128 + SIGINT, what a shell expects of an interrupted command. */
  private static final int INTERRUPTED = 130;

  private static final String ESTABLISHED = "01";

  @TempDir private Path folder;
  private Path temporary;

  @BeforeEach
  void shouldHaveTheToolsOfLinux() throws IOException {
    assumeTrue(Files.isReadable(Path.of("/proc/net/tcp")), "/proc/net/tcp is Linux's");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")), "setsid is util-linux's");
    temporary = Files.createDirectory(folder.resolve("tmp"));
  }

  @Test
  void shouldEndAtOnceAndLeaveNothingWhenInterruptedInOneJvm() throws Exception {
    Process process = start(0, "digits", "--epochs", "1000000", "--tasks", "2");
    try {
      await(() -> Files.readString(folder.resolve("out")).contains("epoch  2 "), process, "epoch");
      // As a terminal does: the whole foreground group.
      assertEnd(process, "-" + process.pid());
    } finally {
      end(process);
    }
  }

  @Test
  void shouldEndTheExecutorsTooWhenTheDriverOfAClusterIsInterrupted() throws Exception {
    int port = freePort();
    Process process =
        start(
            port,
            "digits",
            "--epochs",
            "1000000",
            "--tasks",
            "2",
            "--master",
            "local-cluster[2,1,1024]");
    try {
      await(() -> sockets(port, ESTABLISHED) > 0, process, "connection between the executors");
      assertThat(process.descendants().count()).isGreaterThanOrEqualTo(2);
      assertEnd(process, Long.toString(process.pid()));
      assertEquals(0, sockets(port, ESTABLISHED) + sockets(port, "0A"));
    } finally {
      end(process);
    }
  }

  private void assertEnd(Process process, String target) throws Exception {
    List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
    all.add(process.toHandle());
    assertTrue(process.isAlive());
    long startNs = System.nanoTime();
    Process kill = new ProcessBuilder("/bin/bash", "-c", "kill -INT -- " + target).start();
    assertEquals(0, kill.waitFor());
    while (all.stream().anyMatch(ProcessHandle::isAlive) && System.nanoTime() - startNs < GONE_NS) {
      Thread.sleep(10);
    }
    System.out.printf(
        "%d processes gone %.2f s after SIGINT%n", all.size(), (System.nanoTime() - startNs) / 1e9);
    assertThat(all).noneMatch(ProcessHandle::isAlive);
    assertEquals(INTERRUPTED, process.waitFor(), this::errors);
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left.filter(path -> !path.getFileName().toString().startsWith("hsperf")))
          .isEmpty();
    }
  }

  private Process start(int port, String... arguments) throws IOException {
    // A shell without a terminal makes its background jobs deaf to SIGINT; children inherit it.
    List<String> command = new ArrayList<>();
    command.addAll(List.of("/usr/bin/setsid", "/usr/bin/env", "--default-signal=INT"));
    command.add(ROOT.resolve("bin/rankfold").toString());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.redirectOutput(folder.resolve("out").toFile());
    builder.redirectError(folder.resolve("err").toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("RANKFOLD_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary);
    builder.environment().put("SPARK_LOCAL_DIRS", temporary.toString());
    builder
        .environment()
        .put(
            "RANKFOLD_SUBMIT_OPTS",
            "--conf spark.rankfold.timeout.slots=120s --conf spark.rankfold.transport=tcp"
                + " --conf spark.rankfold.network.port="
                + port
                + "-"
                + (port + 20));
    return builder.start();
  }

  private interface Condition {
    boolean isMet() throws IOException;
  }

  private void await(Condition condition, Process process, String what) throws Exception {
    long startNs = System.nanoTime();
    while (!condition.isMet()) {
      assertTrue(process.isAlive(), this::errors);
      assertTrue(
          System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(200),
          () -> "no " + what + ": " + errors());
      Thread.sleep(20);
    }
  }

  private String errors() {
    try {
      return Files.readString(folder.resolve("err"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static void end(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return Math.min(socket.getLocalPort(), 65_000);
    }
  }

  /** Sockets of this machine bound to one of the ports, in a state as the kernel numbers it. */
  private static long sockets(int port, String state) throws IOException {
    List<String> lines = new ArrayList<>(Files.readAllLines(Path.of("/proc/net/tcp")));
    if (Files.isReadable(Path.of("/proc/net/tcp6"))) {
      lines.addAll(Files.readAllLines(Path.of("/proc/net/tcp6")));
    }
    long sockets = 0;
    for (String line : lines) {
      String[] words = line.trim().split("\\s+", 5);
      int colon = words[1].indexOf(':');
      if (colon > 0 && words[3].equals(state)) {
        int local = Integer.parseInt(words[1].substring(colon + 1), 16);
        sockets += local >= port && local <= port + 20 ? 1 : 0;
      }
    }
    return sockets;
  }
}
