// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.sharedmemory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.group.SharedMemoryGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.sharedmemory.SharedSegment;

/** One task as a process: a line on its input is an order, a line on its output the answer. */
public final class RankProcess {
  private final BufferedReader input =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private final Map<String, String> settings = new HashMap<>();
  private String epoch;
  private RankTable table;
  private int task;
  private SharedSegment segment;
  private Communicator communicator;

  private RankProcess() {}

  /**
   * Answers until its input ends.
   *
   * @param args none
   * @throws IOException when its input or output fails
   */
  public static void main(String[] args) throws IOException {
    new RankProcess().run();
  }

  private void run() throws IOException {
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String answer;
      try {
        answer = answer(line.split(" ", -1));
      } catch (CollectiveException e) {
        answer = "error " + e.code() + " " + e.outState() + " " + e.getMessage();
      } catch (RuntimeException e) {
        answer = "error " + e;
      }
      System.out.println(answer.replace('\n', ' '));
    }
  }

  private String answer(String... words) throws IOException {
    switch (words[0]) {
      case "set" -> settings.put(words[1], words[2]);
      case "prepare" -> {
        epoch = words[1];
        table = new RankTable(Integer.parseInt(words[2]), Integer.parseInt(words[3]));
        task = Integer.parseInt(words[4]);
        segment = SharedMemoryGroups.prepare(table, task, ConfigSource.of(settings));
        return segment.row();
      }
      case "epoch" -> epoch = words[1];
      case "open" -> {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < table.tasks(); i++) {
          rows.add(input.readLine());
        }
        communicator =
            SharedMemoryGroups.open(
                segment,
                epoch,
                rows,
                table,
                task,
                ConfigSource.of(settings),
                CollectiveMetrics.NONE);
      }
      case "work" -> {
        return new RankWork(communicator, Memory.of(words[1], task)).answer(words);
      }
      case "workandclose" -> {
        String answer = new RankWork(communicator, Memory.of(words[1], task)).answer(words);
        communicator.close();
        return answer;
      }
      case "abort" -> communicator.abort(new IllegalStateException(words[1]));
      case "close" -> communicator.close();
      case "giveup" -> segment.close();
      case "leaks" -> {
        communicator = null;
        segment = null;
        return Leaks.describe();
      }
      default -> throw new IllegalArgumentException(String.join(" ", words));
    }
    return "ok";
  }
}
