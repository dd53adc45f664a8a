// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.rankfold.config.AddressRange;
import org.rankfold.config.ConfigKeys;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/** Which of this host's addresses is bound and told to peers. */
final class ListenAddress {
  /**
   * An address of this host.
   *
   * @param name its interface's
   * @param address without a scope, which means something on this host only
   */
  record Found(String name, InetAddress address) {}

  private ListenAddress() {}

  /**
   * The first address, in the order of ranges, then of interfaces, that lies in a range. Link-local
   * addresses of IPv6 are passed over: a peer would need an interface of its own to reach them.
   *
   * @throws CollectiveException INVALID_CONFIG with all that was found
   */
  static InetAddress within(List<AddressRange> ranges, List<Found> found, String host) {
    for (AddressRange range : ranges) {
      for (Found candidate : found) {
        if (range.contains(candidate.address()) && !candidate.address().isLinkLocalAddress()) {
          return candidate.address();
        }
      }
    }
    throw CollectiveException.usage(
        ErrorCode.INVALID_CONFIG,
        "%s=%s: host %s has no address in it that peers could reach; found %s",
        ConfigKeys.NETWORK_CIDR.name(),
        text(ranges),
        host,
        found.stream()
            .map(
                one ->
                    one.name()
                        + " "
                        + one.address().getHostAddress()
                        + (one.address().isLinkLocalAddress() ? " (link-local)" : ""))
            .collect(Collectors.joining(", ")));
  }

  /** The addresses of all interfaces that are up. */
  static List<Found> ofThisHost() {
    List<Found> found = new ArrayList<>();
    try {
      for (NetworkInterface one : Collections.list(NetworkInterface.getNetworkInterfaces())) {
        if (one.isUp()) {
          for (InetAddress address : Collections.list(one.getInetAddresses())) {
            found.add(new Found(one.getName(), InetAddress.getByAddress(address.getAddress())));
          }
        }
      }
    } catch (SocketException | UnknownHostException e) {
      throw new CollectiveException(
          ErrorCode.BOOTSTRAP_FAILED, "the interfaces of this host cannot be listed: " + e, e);
    }
    return found;
  }

  /**
   * The address from which this host would speak to the driver; sends nothing.
   *
   * @param conf Spark's, as executors have it
   * @return null when the way there cannot be told
   */
  static InetAddress towardsDriver(SparkConf conf) {
    String host = conf.get("spark.driver.host", "");
    int port = conf.getInt("spark.driver.port", 0);
    if (host.isEmpty() || port <= 0) {
      return null;
    }
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(InetAddress.getByName(unbracketed(host)), port));
      InetAddress own = socket.getLocalAddress();
      return own == null || own.isAnyLocalAddress()
          ? null
          : InetAddress.getByAddress(own.getAddress());
    } catch (IOException | RuntimeException e) {
      // No name service or no route: Spark's own name of this executor is all there is.
      return null;
    }
  }

  private static String unbracketed(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  static String text(List<AddressRange> ranges) {
    return ranges.stream().map(AddressRange::toString).collect(Collectors.joining(","));
  }
}
