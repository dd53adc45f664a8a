// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import org.rankfold.cuda.CudaProbe;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Which network interface NCCL uses. The library reads it from the environment at its first use in
 * a process and never again, so it is chosen once: from the address that the host's transport uses,
 * unless the process was started with the variable. One instance a process.
 */
public final class NcclSocketInterface {
  /** The variable that NCCL reads. */
  public static final String VARIABLE = "NCCL_SOCKET_IFNAME";

  /** The process's own. */
  public static final NcclSocketInterface PROCESS =
      new NcclSocketInterface(System.getenv(VARIABLE));

  private static final String FALLBACK = "spark.executorEnv." + VARIABLE;

  private final String given;
  private String chosen;
  private boolean isUsed;

  /** A choice that has not been made; other than {@link #PROCESS} for tests. */
  NcclSocketInterface(String given) {
    this.given = given;
  }

  /**
   * Makes NCCL use the interface of an address, or checks that it will. Before the first unique id
   * and communicator of the process.
   *
   * @param address one of this host's, which all peers reach
   * @return the variable's value
   * @throws CollectiveException UNSUPPORTED when CUDA cannot be used, when NCCL has chosen already,
   *     or when the variable cannot be set from here; INVALID_CONFIG when the process was started
   *     with a value that leaves the interface out; INVALID_ARGUMENT when no interface has the
   *     address
   */
  public String choose(InetAddress address) {
    CudaProbe.process().require();
    return choose(address, nameOf(address));
  }

  /** The same for an interface by name. */
  synchronized String choose(InetAddress address, String name) {
    if (given != null) {
      if (!selects(given, name)) {
        throw CollectiveException.usage(
            ErrorCode.INVALID_CONFIG,
            "%s=%s leaves out %s, the interface of this task's address %s: take %s out or set it"
                + " to =%s",
            VARIABLE,
            given,
            name,
            address.getHostAddress(),
            FALLBACK,
            name);
      }
      return given;
    }
    if (name.equals(chosen)) {
      return "=" + chosen;
    }
    if (isUsed || chosen != null) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "NCCL already uses %s in this process, not %s of address %s: set %s to one interface",
          chosen == null ? "an interface it chose" : chosen,
          name,
          address.getHostAddress(),
          FALLBACK);
    }
    if (!NativeEnvironment.set(VARIABLE, "=" + name)) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "%s cannot be set to =%s from inside this process: set %s",
          VARIABLE,
          name,
          FALLBACK);
    }
    chosen = name;
    return "=" + name;
  }

  /** Remembers that NCCL has read the variable by now. */
  synchronized void use() {
    isUsed = true;
  }

  /**
   * Whether NCCL takes an interface, as it reads the variable: a list of names, {@code ^} in front
   * for all others, then {@code =} for whole names instead of beginnings.
   */
  static boolean selects(String value, String name) {
    boolean others = value.startsWith("^");
    String rest = others ? value.substring(1) : value;
    boolean whole = rest.startsWith("=");
    for (String entry : (whole ? rest.substring(1) : rest).split(",", -1)) {
      String listed = entry.contains(":") ? entry.substring(0, entry.indexOf(':')) : entry;
      if (!listed.isEmpty() && (whole ? name.equals(listed) : name.startsWith(listed))) {
        return !others;
      }
    }
    return others;
  }

  private static String nameOf(InetAddress address) {
    NetworkInterface found;
    try {
      found = NetworkInterface.getByInetAddress(address);
    } catch (SocketException e) {
      throw new CollectiveException(
          ErrorCode.UNSUPPORTED, "this host's interfaces cannot be listed: set " + FALLBACK, e);
    }
    if (found == null) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "no interface of this host has address %s",
          address.getHostAddress());
    }
    return found.getName();
  }
}
