// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.rankfold.collective.Communicator;
import org.rankfold.config.ConfigSource;
import org.rankfold.config.PortRange;
import org.rankfold.group.GroupSpec;
import org.rankfold.group.TcpGroups;
import org.rankfold.metrics.CollectiveMetrics;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.tcp.TcpListener;
import org.rankfold.wire.GroupSecret;

/**
 * A task in a process of its own, with a folder in place of Spark: every task writes its address
 * there and reads the others'.
 */
public final class TcpRank implements AutoCloseable {
  private static final long MEETING_NS = 60_000_000_000L;

  private final TcpListener listener;
  private final Path folder;
  private final String suffix;

  /**
   * Listens on any port.
   *
   * @param folder where the tasks meet
   * @param host an IP literal
   * @throws IOException when the literal is none
   */
  public TcpRank(Path folder, String host) throws IOException {
    this(folder, host, "");
  }

  /**
   * Listens on any port; peers read the address from files that someone else writes, who finds this
   * task's own behind a suffix.
   *
   * @param folder where the tasks meet
   * @param host an IP literal
   * @param suffix of the files with this task's address
   * @throws IOException when the literal is none
   */
  public TcpRank(Path folder, String host, String suffix) throws IOException {
    this.folder = folder;
    this.suffix = suffix;
    this.listener = TcpListener.open(InetAddress.getByName(host), new PortRange(0, 0));
  }

  /**
   * Joins a group; blocks until all tasks have.
   *
   * @param epoch the group's id
   * @param world logical ranks
   * @param tasks tasks
   * @param task this task
   * @param settings over the defaults
   * @return the communicator, owned by the caller
   * @throws IOException when the folder cannot be used
   * @throws InterruptedException when interrupted while meeting
   */
  public Communicator join(
      String epoch, int world, int tasks, int task, Map<String, String> settings)
      throws IOException, InterruptedException {
    InetSocketAddress own = listener.address();
    Path part = folder.resolve(epoch + "-" + task + ".part");
    Files.writeString(part, own.getAddress().getHostAddress() + " " + own.getPort());
    Files.move(part, folder.resolve(epoch + "-" + task + suffix), StandardCopyOption.ATOMIC_MOVE);
    List<InetSocketAddress> addresses = new ArrayList<>();
    long startNs = System.nanoTime();
    for (int peer = 0; peer < tasks; peer++) {
      Path row = folder.resolve(epoch + "-" + peer);
      while (!Files.exists(row)) {
        if (System.nanoTime() - startNs > MEETING_NS) {
          throw new IOException("task " + peer + " of " + epoch + " did not come");
        }
        Thread.sleep(5);
      }
      String[] words = Files.readString(row).split(" ", 2);
      addresses.add(
          new InetSocketAddress(InetAddress.getByName(words[0]), Integer.parseInt(words[1])));
    }
    GroupSecret secret =
        new GroupSecret(epoch, ("the secret of " + folder).getBytes(StandardCharsets.UTF_8));
    return TcpGroups.open(
        listener,
        new GroupSpec(secret, new RankTable(world, tasks), task, addresses, false),
        ConfigSource.of(settings),
        CollectiveMetrics.NONE);
  }

  /** Stops listening. */
  @Override
  public void close() {
    listener.close();
  }
}
