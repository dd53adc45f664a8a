// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.api.java.JavaSparkContext;
import org.rankfold.digest.GoldenRow;
import org.rankfold.errors.CollectiveException;
import org.rankfold.it.tcp.GoldenRanks;
import org.rankfold.spark.Rankfold;

/**
 * A group of three executors that says at which addresses it listens, as the kernel has them.
 * Arguments: folder, first port of a range to listen on, then values of
 * spark.rankfold.network.cidr, each for a run of its own.
 */
public final class AddressMain {
  private static final int WORLD = 5;
  private static final int PORTS = 30;
  private static final String LISTENING = "0A";

  private AddressMain() {}

  /**
   * Runs, and prints a line for everything a test may assert.
   *
   * @param args as the class says
   */
  public static void main(String[] args) {
    int port = Integer.parseInt(args[1]);
    GoldenRow row = GoldenRanks.rows(WORLD, 1).get(0);
    for (String cidr : List.of(args).subList(2, args.length)) {
      try (JavaSparkContext spark =
          FaultCluster.start(
              "spark.rankfold.network.port",
              port + "-" + (port + PORTS),
              "spark.rankfold.network.cidr",
              cidr)) {
        List<String> results =
            Rankfold.on(spark)
                .world(WORLD)
                .tasks(FaultCluster.TASKS)
                .run(
                    context ->
                        GoldenRanks.allReduce(
                                context.communicator(), GoldenRanks.rows(WORLD, 1).get(0), true)
                            + " "
                            + listening(port));
        boolean isGolden = results.stream().allMatch(text -> text.startsWith(row.sha256()));
        System.out.println(
            "RUN "
                + cidr
                + " golden="
                + isGolden
                + results.get(0).substring(row.sha256().length()));
      } catch (CollectiveException e) {
        System.out.println("FAILED " + cidr + " " + e.code() + " " + e.getMessage());
      }
    }
  }

  private static Set<String> listening(int port) throws IOException {
    Set<String> addresses = new TreeSet<>();
    for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      for (String line : Files.readAllLines(Path.of(table))) {
        String[] words = line.trim().split("\\s+", 5);
        int colon = words[1].indexOf(':');
        if (colon > 0 && words[3].equals(LISTENING)) {
          int local = Integer.parseInt(words[1].substring(colon + 1), 16);
          if (local >= port && local <= port + PORTS) {
            addresses.add(words[1].substring(0, colon));
          }
        }
      }
    }
    return addresses;
  }
}
