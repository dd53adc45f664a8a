// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.plans;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.rankfold.collective.Communicator;
import org.rankfold.digest.GoldenRow;
import org.rankfold.errors.CollectiveException;
import org.rankfold.it.tcp.GoldenRanks;
import org.rankfold.it.tcp.TcpRank;

/**
 * A task that forms one group after the other: a line of standard input names the next one and how
 * often it makes its calls. Says of each EQUAL, WRONG or LOST, and when.
 */
public final class PlanRankMain {
  static final int WORLD = 5;
  private static final int CALLS = 6;
  private static final int LEAST = 1000;

  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.rankfold.chunk.bytes", "4k",
          "spark.rankfold.timeout.connect", "4s",
          "spark.rankfold.timeout.peer", "3s",
          "spark.rankfold.timeout.collective", "4s");

  private PlanRankMain() {}

  /** The rows of a group's calls. */
  static List<GoldenRow> rows() {
    return GoldenRanks.rows(WORLD, 1).stream()
        .filter(row -> row.n() >= LEAST)
        .limit(CALLS)
        .toList();
  }

  /**
   * Runs the task.
   *
   * @param args the folder where tasks meet, tasks, this task, an IP literal, the suffix of the
   *     file with its own address
   * @throws Exception when the tasks cannot meet
   */
  public static void main(String[] args) throws Exception {
    int tasks = Integer.parseInt(args[1]);
    int task = Integer.parseInt(args[2]);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (TcpRank rank = new TcpRank(Path.of(args[0]), args[3], args[4])) {
      System.out.println("READY");
      String line;
      while ((line = in.readLine()) != null) {
        String[] words = line.split(" ", 2);
        int rounds = Integer.parseInt(words[1]);
        System.out.println(words[0] + " " + group(rank, words[0], rounds, tasks, task));
      }
    }
    long threads =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("rankfold"))
            .count();
    System.out.println("LEFT threads=" + threads);
  }

  private static String group(TcpRank rank, String epoch, int rounds, int tasks, int task)
      throws Exception {
    try (Communicator communicator = rank.join(epoch, WORLD, tasks, task, SETTINGS)) {
      for (int round = 0; round < rounds; round++) {
        for (GoldenRow row : rows()) {
          String hash = GoldenRanks.allReduce(communicator, row, task % 2 == 0);
          if (!hash.equals(row.sha256())) {
            return "WRONG " + System.currentTimeMillis() + " " + row.describe();
          }
        }
      }
    } catch (CollectiveException e) {
      return "LOST " + System.currentTimeMillis() + " " + e.code() + " " + e.getMessage();
    }
    return "EQUAL " + System.currentTimeMillis();
  }
}
