// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.standalone;

import java.io.IOException;
import java.io.Serializable;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds.
 *
 * @param pid the process
 * @param threads live ones
 * @param descriptors open ones
 * @param directBytes direct memory of NIO buffers
 * @param residentBytes RSS
 */
record Usage(long pid, long threads, long descriptors, long directBytes, long residentBytes)
    implements Serializable {

  /** Of this process, after a collection. */
  static Usage now() {
    System.gc();
    long direct =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return new Usage(
          ProcessHandle.current().pid(), status("Threads:"), open.count(), direct, resident());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long resident() throws IOException {
    return status("VmRSS:") << 10;
  }

  private static long status(String name) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.replaceAll("\\D+", ""));
      }
    }
    throw new IOException("/proc/self/status has no " + name);
  }

  /** As a line of text. */
  String line() {
    return String.format(
        "USAGE %d %d %d %d %d", pid, threads, descriptors, directBytes, residentBytes);
  }

  /** From a line of text. */
  static Usage parse(String line) {
    String[] words = line.split(" ", 6);
    return new Usage(
        Long.parseLong(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]),
        Long.parseLong(words[4]),
        Long.parseLong(words[5]));
  }
}
