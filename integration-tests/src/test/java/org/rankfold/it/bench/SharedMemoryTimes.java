// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bench;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.group.SharedMemoryGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.sharedmemory.SharedSegment;

/**
 * {@link AllReduceTimes} over shared memory with a process a task, all started by this main with
 * its own JVM flags. Protocol, arguments and output are the same: {@code direct} brings arenas,
 * {@code heap} arrays. {@code -Drankfold.bench.chunk} sets the chunk.
 */
public final class SharedMemoryTimes {
  private static final String CHUNK = "rankfold.bench.chunk";

  private SharedMemoryTimes() {}

  /**
   * Runs the benchmark.
   *
   * @param args as the class says; {@code task} and a number before them in the processes started
   * @throws IOException when a process cannot be started or talked to, or fails
   * @throws InterruptedException when interrupted while the processes end
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args[0].equals("task")) {
      runTask(Integer.parseInt(args[1]), Arrays.copyOfRange(args, 2, args.length));
      return;
    }
    int tasks = Integer.parseInt(args[0]);
    List<Process> processes = new ArrayList<>();
    try {
      for (int task = 0; task < tasks; task++) {
        processes.add(start(task, args));
      }
      List<BufferedReader> outputs = new ArrayList<>();
      List<String> rows = new ArrayList<>();
      for (Process process : processes) {
        BufferedReader output =
            new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        outputs.add(output);
        rows.add(output.readLine());
      }
      for (Process process : processes) {
        PrintStream input =
            new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        rows.forEach(input::println);
      }
      outputs.get(0).lines().forEach(System.out::println);
      for (Process process : processes) {
        if (process.waitFor() != 0) {
          throw new IOException("a task ended with status " + process.exitValue());
        }
      }
    } finally {
      processes.forEach(Process::destroy);
    }
  }

  private static Process start(int task, String... args) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(SharedMemoryTimes.class.getName(), "task", Integer.toString(task)));
    command.addAll(List.of(args));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static void runTask(int task, String... args) throws IOException {
    int tasks = Integer.parseInt(args[0]);
    long[] sizes = Arrays.stream(args, 2, args.length).mapToLong(Long::parseLong).toArray();
    RankTable table = new RankTable(tasks, tasks);
    ConfigSource source =
        ConfigSource.of(Map.of("spark.rankfold.chunk.bytes", System.getProperty(CHUNK, "256k")));
    SharedSegment segment = SharedMemoryGroups.prepare(table, task, source);
    System.out.println(segment.row());
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      rows.add(input.readLine());
    }
    try (Communicator communicator =
        SharedMemoryGroups.open(
            segment, "bench", rows, table, task, source, CollectiveMetrics.NONE)) {
      AllReduceTimes.time(communicator, args[1].equals("direct"), sizes);
    }
  }
}
