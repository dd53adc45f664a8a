// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bench;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.rankfold.collective.Communicator;
import org.rankfold.it.tcp.TcpRank;

/**
 * {@link AllReduceTimes} over TCP with a process a task: one process of this main. Protocol and
 * output are the same; task 0 prints.
 *
 * <p>Arguments: the folder where the tasks meet, an IP literal, tasks, this task, {@code heap} or
 * {@code direct}, then sizes in bytes.
 */
public final class TcpAllReduceTimes {
  private TcpAllReduceTimes() {}

  /**
   * Runs one task of the benchmark.
   *
   * @param args as the class says
   * @throws Exception when the tasks cannot meet
   */
  public static void main(String[] args) throws Exception {
    int tasks = Integer.parseInt(args[2]);
    long[] sizes = Arrays.stream(args, 5, args.length).mapToLong(Long::parseLong).toArray();
    try (TcpRank rank = new TcpRank(Path.of(args[0]), args[1]);
        Communicator communicator =
            rank.join("bench", tasks, tasks, Integer.parseInt(args[3]), Map.of())) {
      AllReduceTimes.time(communicator, args[4].equals("direct"), sizes);
    }
  }
}
