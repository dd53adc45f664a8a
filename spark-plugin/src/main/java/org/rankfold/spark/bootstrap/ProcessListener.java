// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.rankfold.config.AddressRange;
import org.rankfold.config.ConfigKeys;
import org.rankfold.config.ConfigSource;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.GroupConfig;
import org.rankfold.transport.tcp.TcpListener;

/**
 * The socket on which this process's tasks are reached by those of other processes: opened once,
 * when the first group needs it, at the address that {@link ListenAddress} chooses; it ends with
 * the process. One instance a process. Thread-safe.
 */
final class ProcessListener {
  /** The process's own. */
  static final ProcessListener PROCESS = new ProcessListener();

  /** The executor id that Spark gives a local master. */
  private static final String DRIVER = "driver";

  private TcpListener listener;

  private ProcessListener() {}

  /** Tasks of a local master meet in memory unless TCP was asked for. */
  static boolean isNeeded(GroupConfig config) {
    boolean local = SparkEnv.get().executorId().equals(DRIVER);
    return config.transport().equals("tcp") || (!local && config.transport().equals("auto"));
  }

  /** Where it listens, as {@code IP port}. */
  synchronized String address(ConfigSource source) {
    List<AddressRange> ranges = ConfigKeys.NETWORK_CIDR.of(source);
    if (listener == null) {
      listener = TcpListener.open(choose(ranges), ConfigKeys.NETWORK_PORT.of(source));
    }
    InetSocketAddress bound = listener.address();
    if (!ranges.isEmpty() && ranges.stream().noneMatch(r -> r.contains(bound.getAddress()))) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_CONFIG,
          "%s=%s: this process listens on %s since its first group, and a process listens once",
          ConfigKeys.NETWORK_CIDR.name(),
          ListenAddress.text(ranges),
          bound.getAddress().getHostAddress());
    }
    return bound.getAddress().getHostAddress() + " " + bound.getPort();
  }

  synchronized TcpListener listener() {
    return listener;
  }

  private static InetAddress choose(List<AddressRange> ranges) {
    SparkEnv spark = SparkEnv.get();
    String name = spark.blockManager().blockManagerId().host();
    if (!ranges.isEmpty()) {
      return ListenAddress.within(ranges, ListenAddress.ofThisHost(), name);
    }
    InetAddress towardsDriver =
        spark.executorId().equals(DRIVER) ? null : ListenAddress.towardsDriver(spark.conf());
    return towardsDriver == null ? byName(name) : towardsDriver;
  }

  private static InetAddress byName(String name) {
    try {
      return InetAddress.getByName(name);
    } catch (UnknownHostException e) {
      throw new CollectiveException(
          ErrorCode.BOOTSTRAP_FAILED, "host=" + name + " of this executor has no address", e);
    }
  }

  /** Reads {@code IP port}; looks no name up. */
  static InetSocketAddress parse(String address) {
    int blank = address.indexOf(' ');
    try {
      return new InetSocketAddress(
          InetAddress.getByName(address.substring(0, blank)),
          Integer.parseInt(address.substring(blank + 1)));
    } catch (UnknownHostException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new CollectiveException(
          ErrorCode.PROTOCOL, "bootstrap address is malformed: " + address, e);
    }
  }
}
