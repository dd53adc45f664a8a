// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.rankfold.InternalApi;

/**
 * What a process may take.
 *
 * @param directFreeBytes direct memory the JVM still allows
 * @param heapMaxBytes the largest heap
 * @param containerBytes the container's memory limit, or -1 when there is none
 */
@InternalApi
public record MemoryLimits(long directFreeBytes, long heapMaxBytes, long containerBytes) {
  private static final List<Path> LIMIT_FILES =
      List.of(
          Path.of("/sys/fs/cgroup/memory.max"),
          Path.of("/sys/fs/cgroup/memory/memory.limit_in_bytes"));

  /** Above it, a limit of cgroup v1 says that there is none. */
  private static final long NO_LIMIT_BYTES = 1L << 60;

  /**
   * Of this process, now.
   *
   * @return the limits
   */
  public static MemoryLimits own() {
    long heap = Runtime.getRuntime().maxMemory();
    return new MemoryLimits(maxDirectBytes(heap) - usedDirectBytes(), heap, containerLimit());
  }

  private static long containerLimit() {
    return LIMIT_FILES.stream()
        .filter(Files::isReadable)
        .findFirst()
        .map(MemoryLimits::read)
        .map(MemoryLimits::containerBytes)
        .orElse(-1L);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "unknown";
    }
  }

  static long containerBytes(String text) {
    try {
      long bytes = Long.parseLong(text.trim());
      return bytes < NO_LIMIT_BYTES ? bytes : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static long usedDirectBytes() {
    for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
      if (pool.getName().equals("direct")) {
        return pool.getMemoryUsed();
      }
    }
    return 0;
  }

  /** HotSpot allows as much direct memory as heap unless -XX:MaxDirectMemorySize says otherwise. */
  private static long maxDirectBytes(long heapMaxBytes) {
    String flag = "-XX:MaxDirectMemorySize=";
    long bytes = heapMaxBytes;
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith(flag)) {
        bytes = sizeBytes(argument.substring(flag.length()), heapMaxBytes);
      }
    }
    return bytes;
  }

  static long sizeBytes(String text, long otherwise) {
    String lower = text.toLowerCase(Locale.ROOT);
    int shift = lower.isEmpty() ? -1 : "kmgt".indexOf(lower.charAt(lower.length() - 1));
    try {
      long number = Long.parseLong(shift < 0 ? lower : lower.substring(0, lower.length() - 1));
      long bytes = number << (10 * (shift + 1));
      return bytes > 0 ? bytes : otherwise;
    } catch (NumberFormatException e) {
      return otherwise;
    }
  }
}
