// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Tasks as processes that share the first device. Each says it is a host of its own, so NCCL takes
 * the one device for several and goes over sockets.
 */
final class RankProcesses implements AutoCloseable {
  private final Path folder;
  private final List<Process> processes = new ArrayList<>();

  RankProcesses(Path folder) {
    this.folder = folder;
  }

  void start(int tasks, String scenario, int many) throws IOException {
    for (int task = 0; task < tasks; task++) {
      start(tasks, task, scenario, many);
    }
  }

  void start(int tasks, int task, String scenario, int many) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // All of the heap at once: what the process grows by later is native memory.
    command.addAll(List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"));
    Stream.of("rankfold.cuda.cache", "rankfold.nccl.largest")
        .filter(key -> System.getProperty(key) != null)
        .forEach(key -> command.add("-D" + key + "=" + System.getProperty(key)));
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            NcclRankMain.class.getName(),
            folder.toString(),
            Integer.toString(tasks),
            Integer.toString(task),
            scenario,
            Integer.toString(many)));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output(task));
    builder.environment().put("NCCL_HOSTID", "host" + task);
    builder.environment().put("NCCL_NVLS_ENABLE", "0");
    builder.environment().put("NCCL_DEBUG", "INFO");
    builder.environment().put("NCCL_DEBUG_SUBSYS", "INIT,NET,ENV");
    builder.environment().put("NCCL_DEBUG_FILE", debug(task).toString());
    processes.add(builder.start());
  }

  Process process(int task) {
    return processes.get(task);
  }

  File output(int task) {
    return folder.resolve("out-" + task).toFile();
  }

  File debug(int task) {
    return folder.resolve("nccl-" + task).toFile();
  }

  List<String> lines(int task) throws IOException {
    return Files.readAllLines(output(task).toPath());
  }

  /** The lines that start with a word. */
  List<String> lines(int task, String word) throws IOException {
    return lines(task).stream().filter(line -> line.startsWith(word + " ")).toList();
  }

  /** Trips the latch of a task. */
  void trip(int task) throws IOException {
    process(task).getOutputStream().write('!');
    process(task).getOutputStream().flush();
  }

  void signal(String name, int task) throws Exception {
    Process kill =
        new ProcessBuilder("kill", "-" + name, Long.toString(process(task).pid())).start();
    if (kill.waitFor() != 0) {
      throw new IllegalStateException("no signal " + name);
    }
  }

  /** Waits until a task says that a call of its has lasted longer than any that goes well. */
  void awaitWaiting(int task, long seconds) throws Exception {
    awaitLine(task, "WAITING", seconds);
    if (!lines(task, "LOST").isEmpty()) {
      throw new IllegalStateException("task " + task + " waits no more:\n" + said(task));
    }
  }

  /** Whether a task says a word in time. */
  boolean says(int task, String word, long millis) throws Exception {
    long startNs = System.nanoTime();
    while (lines(task, word).isEmpty()) {
      if (System.nanoTime() - startNs > TimeUnit.MILLISECONDS.toNanos(millis)) {
        return false;
      }
      Thread.sleep(5);
    }
    return true;
  }

  /** Waits until the kernel has ended a process that was killed. */
  void awaitGone(int task, long seconds) throws Exception {
    if (!process(task).waitFor(seconds, TimeUnit.SECONDS)) {
      throw new IllegalStateException("task " + task + " was killed and goes on");
    }
  }

  void awaitLine(int task, String line, long seconds) throws Exception {
    long startNs = System.nanoTime();
    while (!lines(task).contains(line)) {
      if (!process(task).isAlive()
          || System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(seconds)) {
        throw new IllegalStateException("no " + line + " of task " + task + ":\n" + said(task));
      }
      Thread.sleep(10);
    }
  }

  void awaitEnd(int task, long seconds) throws Exception {
    if (!process(task).waitFor(seconds, TimeUnit.SECONDS)) {
      throw new IllegalStateException("task " + task + " goes on:\n" + said(task));
    }
    if (process(task).exitValue() != 0) {
      throw new IllegalStateException("task " + task + " failed:\n" + said(task));
    }
  }

  /** What a task printed, and the end of what NCCL wrote. */
  String said(int task) throws IOException {
    StringBuilder text = new StringBuilder(String.join("\n", lines(task)));
    if (debug(task).exists()) {
      List<String> log = Files.readAllLines(debug(task).toPath());
      text.append("\n--- NCCL, its last lines\n")
          .append(String.join("\n", log.subList(Math.max(0, log.size() - 25), log.size())));
    }
    return text.toString();
  }

  @Override
  public void close() {
    processes.forEach(Process::destroyForcibly);
    for (Process process : processes) {
      try {
        process.waitFor(10, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
