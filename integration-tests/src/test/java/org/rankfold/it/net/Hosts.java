// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.net;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Network namespaces joined by a bridge in one more, each with an IPv4 and an IPv6 address. Needs
 * root and {@code ip}; what it cannot make it says. Closing removes all of them.
 */
public final class Hosts implements AutoCloseable {
  private final String name;
  private final int count;
  private final boolean isIpv6;

  private Hosts(String name, int count, boolean isIpv6) {
    this.name = name;
    this.count = count;
    this.isIpv6 = isIpv6;
  }

  /**
   * Says why this machine cannot have hosts.
   *
   * @return the reason, empty when it can
   */
  public static Optional<String> obstacle() {
    String probe = "rfprobe" + ProcessHandle.current().pid();
    Optional<String> failed = attempt("ip", "netns", "add", probe);
    if (failed.isEmpty()) {
      failed = attempt("ip", "netns", "del", probe);
    }
    return failed;
  }

  /**
   * Makes hosts.
   *
   * @param count how many
   * @param isIpv6 whether {@link #place} tells IPv6 addresses
   * @return the hosts, owned by the caller
   */
  public static Hosts make(int count, boolean isIpv6) {
    Hosts hosts = new Hosts("rf" + ProcessHandle.current().pid() + "x", count, isIpv6);
    try {
      hosts.build();
      return hosts;
    } catch (RuntimeException | Error e) {
      hosts.close();
      throw e;
    }
  }

  private void build() {
    must("ip", "netns", "add", hub());
    must("ip", "-n", hub(), "link", "add", "br0", "type", "bridge");
    must("ip", "-n", hub(), "link", "set", "br0", "up");
    for (int host = 0; host < count; host++) {
      String space = space(host);
      must("ip", "netns", "add", space);
      must(
          "ip",
          "-n",
          space,
          "link",
          "add",
          "eth0",
          "type",
          "veth",
          "peer",
          "name",
          port(host),
          "netns",
          hub());
      must("ip", "-n", hub(), "link", "set", port(host), "master", "br0", "up");
      must("ip", "-n", space, "addr", "add", "10.77.0." + (10 + host) + "/24", "dev", "eth0");
      must(
          "ip", "-n", space, "addr", "add", "fd77::" + (10 + host) + "/64", "dev", "eth0", "nodad");
      must("ip", "-n", space, "link", "set", "lo", "up");
      must("ip", "-n", space, "link", "set", "eth0", "up");
    }
  }

  private String hub() {
    return name + "hub";
  }

  private String space(int host) {
    return name + host;
  }

  private static String port(int host) {
    return "p" + host;
  }

  private String address(int host) {
    return isIpv6 ? "fd77::" + (10 + host) : "10.77.0." + (10 + host);
  }

  /**
   * A host.
   *
   * @param host its number from 0
   * @return where its processes run
   */
  public Place place(int host) {
    return new Place(address(host), List.of("ip", "netns", "exec", space(host)));
  }

  /**
   * Takes a host's plug out: nothing reaches it and it reaches nobody, silently.
   *
   * @param host its number
   */
  public void cut(int host) {
    must("ip", "-n", hub(), "link", "set", port(host), "nomaster");
  }

  /**
   * Lets what a host sends vanish while it still hears: its frames carry addresses of no one.
   *
   * @param host its number
   */
  public void cutOneWay(int host) {
    for (int peer = 0; peer < count; peer++) {
      if (peer != host) {
        must(
            "ip",
            "-n",
            space(host),
            "neigh",
            "replace",
            address(peer),
            "lladdr",
            "02:00:00:00:00:99",
            "dev",
            "eth0",
            "nud",
            "permanent");
      }
    }
  }

  /**
   * Makes every host's line slow.
   *
   * @param rate as tc has it, such as 10mbit
   */
  public void limit(String rate) {
    for (int host = 0; host < count; host++) {
      must(
          "tc",
          "-n",
          space(host),
          "qdisc",
          "add",
          "dev",
          "eth0",
          "root",
          "tbf",
          "rate",
          rate,
          "burst",
          "32kbit",
          "latency",
          "200ms");
    }
  }

  /**
   * Makes every host's packets late.
   *
   * @param delay as tc has it, such as 200ms
   * @return why the kernel cannot, empty when it does
   */
  public Optional<String> delay(String delay) {
    Optional<String> failed = Optional.empty();
    for (int host = 0; host < count && failed.isEmpty(); host++) {
      failed =
          attempt(
              "tc",
              "-n",
              space(host),
              "qdisc",
              "add",
              "dev",
              "eth0",
              "root",
              "netem",
              "delay",
              delay);
    }
    return failed;
  }

  /**
   * Loses one packet in a hundred of those that reach a host, by chance.
   *
   * @return why this machine cannot (it needs {@code nft}), empty when it does
   */
  public Optional<String> loseOnePercent() {
    String rules =
        "table inet loss { chain in { type filter hook input priority 0;"
            + " iifname \"eth0\" numgen random mod 100 == 0 drop; }; }";
    Optional<String> failed = Optional.empty();
    for (int host = 0; host < count && failed.isEmpty(); host++) {
      failed = attempt("ip", "netns", "exec", space(host), "nft", rules);
    }
    return failed;
  }

  private static void must(String... command) {
    attempt(command)
        .ifPresent(
            reason -> {
              throw new IllegalStateException(String.join(" ", command) + ": " + reason);
            });
  }

  private static Optional<String> attempt(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return Optional.of("no end in 10 s");
      }
      int code = process.exitValue();
      return code == 0 ? Optional.empty() : Optional.of("exit " + code + ": " + said.trim());
    } catch (IOException e) {
      return Optional.of(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("interrupted");
    }
  }

  @Override
  public void close() {
    List<String> spaces = new ArrayList<>();
    for (int host = 0; host < count; host++) {
      spaces.add(space(host));
    }
    spaces.add(hub());
    spaces.forEach(space -> attempt("ip", "netns", "del", space));
  }
}
