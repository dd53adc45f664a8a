// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The tasks of one group after another, each a {@link RankProcess}. */
final class RankProcesses implements AutoCloseable {
  private static final long ANSWER_S = 100;
  private static final String ENDED = "its output ended";

  private record Rank(Process process, PrintStream input, BlockingQueue<String> answers) {}

  private final List<Rank> ranks = new ArrayList<>();
  private int groups;

  RankProcesses(int tasks) {
    for (int task = 0; task < tasks; task++) {
      ranks.add(start());
    }
  }

  private static Rank start() {
    List<String> command =
        List.of(
            System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            RankProcess.class.getName());
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      BlockingQueue<String> answers = new LinkedBlockingQueue<>();
      Thread reader = new Thread(() -> read(process, answers), "answers-" + process.pid());
      reader.setDaemon(true);
      reader.start();
      return new Rank(
          process,
          new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8),
          answers);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void read(Process process, BlockingQueue<String> answers) {
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        answers.add(line);
      }
    } catch (IOException e) {
      answers.add(e.toString());
    }
    answers.add(ENDED);
  }

  int size() {
    return ranks.size();
  }

  long pid(int task) {
    return ranks.get(task).process().pid();
  }

  void tell(int task, String line) {
    ranks.get(task).input().println(line);
  }

  void tellAll(String line) {
    for (int task = 0; task < size(); task++) {
      tell(task, line);
    }
  }

  String answer(int task) {
    try {
      BlockingQueue<String> answers = ranks.get(task).answers();
      String answer = answers.poll(ANSWER_S, TimeUnit.SECONDS);
      if (ENDED.equals(answer)) {
        answers.add(ENDED);
      }
      return answer == null ? "nothing within " + ANSWER_S + " s" : answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  List<String> answers() {
    List<String> answers = new ArrayList<>();
    for (int task = 0; task < size(); task++) {
      answers.add(answer(task));
    }
    return answers;
  }

  void expectAll(String answer, String line) {
    tellAll(line);
    assertEquals(Collections.nCopies(size(), answer), answers(), line);
  }

  void set(String key, Object value) {
    expectAll("ok", "set " + key + " " + value);
  }

  /** Makes every task's segment for the next group; the rows. */
  List<String> prepare(int world) {
    groups++;
    for (int task = 0; task < size(); task++) {
      tell(task, "prepare group-" + groups + " " + world + " " + size() + " " + task);
    }
    return answers();
  }

  void open(int world) {
    tellOpen(prepare(world));
    assertEquals(Collections.nCopies(size(), "ok"), answers(), "open");
  }

  void tellOpen(List<String> rows) {
    for (int task = 0; task < size(); task++) {
      tellOpen(task, rows);
    }
  }

  void tellOpen(int task, List<String> rows) {
    tell(task, "open");
    rows.forEach(row -> tell(task, row));
  }

  void closeGroup() {
    expectAll("ok", "close");
  }

  void signal(int task, String name) {
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(pid(task))).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    for (Rank rank : ranks) {
      rank.process().destroyForcibly();
    }
  }
}
