// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.plans;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.rankfold.it.net.Place;

/** Tasks as processes that stay from group to group; a fault's victim is replaced. */
final class PlanProcesses implements AutoCloseable {
  /** How a task's group ended: EQUAL, WRONG, LOST, or GONE with its process. */
  record Ending(int task, String what, long atMs, String text) {}

  private record Task(Process process, BlockingQueue<String> lines) {}

  private static final long START_S = 120;
  private static final long PACE_MS = 2;

  private final Path folder;
  private final List<Place> places;
  private final String suffix;
  private final Task[] tasks;

  /** Tasks on this machine, each behind a gate. */
  PlanProcesses(Path folder, int count) throws Exception {
    this(folder, Collections.nCopies(count, Place.here("127.0.0.1")), ".listener");
  }

  /** Tasks where the places say, which find each other by themselves without a suffix. */
  PlanProcesses(Path folder, List<Place> places, String suffix) throws Exception {
    this.folder = folder;
    this.places = places;
    this.suffix = suffix;
    int count = places.size();
    this.tasks = new Task[count];
    try {
      for (int task = 0; task < count; task++) {
        tasks[task] = start(task);
      }
      for (int task = 0; task < count; task++) {
        awaitReady(task);
      }
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  private Task start(int task) throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            PlanRankMain.class.getName(),
            folder.toString(),
            Integer.toString(tasks.length),
            Integer.toString(task),
            places.get(task).address(),
            suffix);
    Process process =
        new ProcessBuilder(places.get(task).command(command))
            .redirectError(
                ProcessBuilder.Redirect.appendTo(new File(folder.toFile(), "err-" + task)))
            .start();
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    Thread reader = new Thread(() -> read(process, lines), "lines-of-" + task);
    reader.setDaemon(true);
    reader.start();
    return new Task(process, lines);
  }

  private static void read(Process process, BlockingQueue<String> lines) {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line;
      while ((line = in.readLine()) != null) {
        lines.add(line);
      }
    } catch (IOException e) {
      lines.add("unreadable: " + e);
    }
    lines.add("END");
  }

  private void awaitReady(int task) throws Exception {
    String line = tasks[task].lines().poll(START_S, TimeUnit.SECONDS);
    if (!"READY".equals(line)) {
      throw new IOException("task " + task + " says " + line + ": " + errors(task));
    }
  }

  /** Runs a group under a plan; blocks until every survivor has said how it ended. */
  List<Ending> run(FaultGate.Strike strike, String epoch, long limitS) throws Exception {
    List<FaultGate> gates = new ArrayList<>();
    try {
      begin(epoch, 1);
      for (int task = 0; task < tasks.length; task++) {
        FaultGate gate = new FaultGate(task, listener(epoch, task), strike);
        gates.add(gate);
        publish(epoch, task, gate.port());
      }
      List<Ending> endings = new ArrayList<>();
      long startNs = System.nanoTime();
      for (int task = 0; task < tasks.length; task++) {
        long leftNs = TimeUnit.SECONDS.toNanos(limitS) - (System.nanoTime() - startNs);
        endings.add(ending(strike, epoch, task, leftNs));
      }
      return endings;
    } finally {
      gates.forEach(FaultGate::close);
      replaceVictim(strike);
    }
  }

  private Ending ending(FaultGate.Strike strike, String epoch, int task, long leftNs)
      throws Exception {
    FaultPlan plan = strike.plan();
    boolean isProcess = plan.kind() == FaultPlan.Kind.KILL || plan.kind() == FaultPlan.Kind.STOP;
    boolean isCandidate = isProcess && task == plan.task();
    return ending(epoch, task, leftNs, () -> isCandidate && strike.atMs() > 0);
  }

  /** Names the next group to every task; it makes its calls so many times over. */
  void begin(String epoch, int rounds) throws IOException {
    for (Task task : tasks) {
      OutputStream in = task.process().getOutputStream();
      in.write((epoch + " " + rounds + "\n").getBytes(StandardCharsets.UTF_8));
      in.flush();
    }
  }

  /** How a task's group ended; blocks until it did, is gone, or the time is up. */
  Ending ending(String epoch, int task, long leftNs, BooleanSupplier isGone) throws Exception {
    long startNs = System.nanoTime();
    while (true) {
      String line = tasks[task].lines().poll(PACE_MS, TimeUnit.MILLISECONDS);
      if (line != null && line.startsWith(epoch + " ")) {
        String[] words = (line + "    ").split(" ", 4);
        return new Ending(task, words[1], Long.parseLong(words[2]), words[3].trim());
      }
      if (isGone.getAsBoolean()) {
        return new Ending(task, "GONE", System.currentTimeMillis(), "");
      }
      if (line != null || System.nanoTime() - startNs > leftNs) {
        return new Ending(
            task, "HUNG", System.currentTimeMillis(), line + " " + stack(task) + errors(task));
      }
    }
  }

  private void replaceVictim(FaultGate.Strike strike) throws Exception {
    FaultPlan plan = strike.plan();
    boolean isProcess = plan.kind() == FaultPlan.Kind.KILL || plan.kind() == FaultPlan.Kind.STOP;
    if (isProcess && strike.atMs() > 0) {
      tasks[plan.task()].process().destroyForcibly().waitFor();
      tasks[plan.task()] = start(plan.task());
      awaitReady(plan.task());
    }
  }

  /** Kills or stops a task's process at once. */
  void strike(FaultPlan plan) {
    try {
      String signal = plan.kind() == FaultPlan.Kind.KILL ? "-KILL" : "-STOP";
      String pid = Long.toString(tasks[plan.task()].process().pid());
      new ProcessBuilder("kill", signal, pid).start().waitFor();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private InetSocketAddress listener(String epoch, int task) throws Exception {
    Path row = folder.resolve(epoch + "-" + task + ".listener");
    long startNs = System.nanoTime();
    while (!Files.exists(row)) {
      if (System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(START_S)) {
        throw new IOException("task " + task + " does not publish its listener: " + errors(task));
      }
      Thread.sleep(PACE_MS);
    }
    String[] words = Files.readString(row).split(" ", 2);
    return new InetSocketAddress(InetAddress.getByName(words[0]), Integer.parseInt(words[1]));
  }

  private void publish(String epoch, int task, int port) throws IOException {
    Path part = folder.resolve(epoch + "-" + task + ".gate");
    Files.writeString(part, "127.0.0.1 " + port);
    Files.move(part, folder.resolve(epoch + "-" + task), StandardCopyOption.ATOMIC_MOVE);
  }

  /** What the threads of a task that hangs are doing. */
  private String stack(int task) throws Exception {
    Path dump = folder.resolve("stack-" + task);
    String pid = Long.toString(tasks[task].process().pid());
    new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jstack").toString(), pid)
        .redirectErrorStream(true)
        .redirectOutput(dump.toFile())
        .start()
        .waitFor(20, TimeUnit.SECONDS);
    return Files.readString(dump);
  }

  private String errors(int task) throws IOException {
    Path err = folder.resolve("err-" + task);
    return Files.exists(err) ? Files.readString(err) : "";
  }

  /** Ends the tasks in good order; what each says last. */
  List<String> end() throws Exception {
    List<String> last = new ArrayList<>();
    for (Task task : tasks) {
      task.process().getOutputStream().close();
      String said = null;
      String line;
      while ((line = task.lines().poll(30, TimeUnit.SECONDS)) != null && !line.equals("END")) {
        said = line;
      }
      last.add(said);
    }
    return last;
  }

  @Override
  public void close() {
    for (Task task : tasks) {
      if (task != null) {
        task.process().destroyForcibly();
      }
    }
  }
}
