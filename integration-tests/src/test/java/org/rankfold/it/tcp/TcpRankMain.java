// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.rankfold.collective.Communicator;
import org.rankfold.digest.GoldenRow;
import org.rankfold.errors.CollectiveException;
import org.rankfold.view.View;

/**
 * One task of a group as a process. Arguments: folder, IP literal, tasks, this task, scenario; it
 * prints a line for everything a test may assert.
 */
public final class TcpRankMain {
  private static final int STEP = 3;

  private TcpRankMain() {}

  /**
   * Runs the task.
   *
   * @param args as the class says
   * @throws Exception when the tasks cannot meet
   */
  public static void main(String[] args) throws Exception {
    // The first channel of a JVM opens a socket that is never closed.
    ServerSocketChannel.open().close();
    SocketChannel.open().close();
    long socketsBefore = sockets();
    int tasks = Integer.parseInt(args[2]);
    int task = Integer.parseInt(args[3]);
    try (TcpRank rank = new TcpRank(Path.of(args[0]), args[1])) {
      switch (args[4]) {
        case "golden" -> golden(rank, tasks, task);
        case "fault" -> fault(rank, tasks, task);
        default -> throw new IllegalArgumentException(args[4]);
      }
    }
    long threads =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("rankfold"))
            .count();
    System.out.println("LEFT threads=" + threads + " sockets=" + (sockets() - socketsBefore));
  }

  private static long sockets() throws IOException {
    long sockets = 0;
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors) {
        sockets += target(descriptor).startsWith("socket:") ? 1 : 0;
      }
    }
    return sockets;
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "the folder's own, gone";
    }
  }

  private static void golden(TcpRank rank, int tasks, int task) throws Exception {
    int equal = 0;
    for (int world : GoldenRanks.worlds()) {
      if (world < tasks) {
        continue;
      }
      try (Communicator communicator = rank.join("golden-" + world, world, tasks, task, Map.of())) {
        for (GoldenRow row : GoldenRanks.rows(world, STEP)) {
          String hash = GoldenRanks.allReduce(communicator, row, task % 2 == 0);
          if (!hash.equals(row.sha256())) {
            System.out.println("WRONG " + row.describe() + " " + hash);
          }
          equal += hash.equals(row.sha256()) ? 1 : 0;
        }
      }
    }
    System.out.println("EQUAL " + equal);
  }

  /** Reduces until a peer is gone, then forms a group without the last task. */
  private static void fault(TcpRank rank, int tasks, int task) throws Exception {
    float[] x = new float[1 << 20];
    try (Communicator communicator =
        rank.join("first", tasks, tasks, task, Map.of("spark.rankfold.timeout.peer", "2s"))) {
      for (int call = 0; ; call++) {
        communicator.allReduce(List.of(View.of(x)), View.of(x));
        if (call == 20) {
          System.out.println("RUNNING");
        }
        if (task == 1) {
          // Most of its time this task is in its own code.
          Thread.sleep(20);
        }
      }
    } catch (CollectiveException e) {
      System.out.println(
          "LOST " + System.currentTimeMillis() + " " + e.code() + " " + e.getMessage());
    }
    try (Communicator communicator = rank.join("second", tasks - 1, tasks - 1, task, Map.of())) {
      float[] one = {1};
      communicator.allReduce(List.of(View.of(one)), View.of(one));
      System.out.println("NEXT " + one[0]);
    }
  }
}
