// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Which process a task lives in, told apart from a later one of the same number.
 *
 * @param pid the process id within its namespace
 * @param startTicks when it started, as the kernel counts
 * @param bootId the kernel's boot
 * @param pidNamespace the process id namespace
 * @param user the user id
 */
record ProcessIdentity(long pid, long startTicks, String bootId, String pidNamespace, long user) {
  /** This process; UNSUPPORTED where there is no Linux /proc. */
  static ProcessIdentity own() {
    Path self = Path.of("/proc/self");
    try {
      return new ProcessIdentity(
          ProcessHandle.current().pid(),
          Stat.of(self).startTicks(),
          Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim(),
          Files.readSymbolicLink(self.resolve("ns/pid")).toString(),
          ((Number) Files.getAttribute(self, "unix:uid")).longValue());
    } catch (IOException | UnsupportedOperationException e) {
      throw new CollectiveException(
          ErrorCode.UNSUPPORTED, "transport=sharedmemory needs Linux and its /proc: " + e, e);
    }
  }

  /** Why the other process shares no memory with this one, or null when it does. */
  String separation(ProcessIdentity other) {
    if (!bootId.equals(other.bootId)) {
      return "boot=" + other.bootId + " != " + bootId + ": another host";
    }
    if (!pidNamespace.equals(other.pidNamespace)) {
      return "namespace=" + other.pidNamespace + " != " + pidNamespace + ": another container";
    }
    if (user != other.user) {
      return "user=" + other.user + " != " + user;
    }
    return null;
  }

  Path folder() {
    return Path.of("/proc", Long.toString(pid));
  }

  /**
   * Whether the process, and with it every thread that could touch memory, has ended. A zombie
   * whose other threads are still ending has not.
   */
  boolean isGone() {
    try {
      Stat stat = Stat.of(folder());
      boolean hasEnded = stat.state() == 'Z' || stat.state() == 'X';
      return stat.startTicks() != startTicks || (hasEnded && threads() <= 1);
    } catch (IOException e) {
      return !Files.exists(folder());
    }
  }

  private long threads() throws IOException {
    try (Stream<Path> tasks = Files.list(folder().resolve("task"))) {
      return tasks.count();
    }
  }

  private record Stat(char state, long startTicks) {
    /** The fields follow the command's closing parenthesis; the state is the first of them. */
    private static final int START_TICKS = 19;

    static Stat of(Path process) throws IOException {
      String text = Files.readString(process.resolve("stat"));
      String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
      return new Stat(fields[0].charAt(0), Long.parseLong(fields[START_TICKS]));
    }
  }
}
