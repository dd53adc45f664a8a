// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.sharedmemory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What groups have left in this process: open segments, mapped segments, threads. */
final class Leaks {
  private static final int ROUNDS = 50;
  private static final long ROUND_MS = 100;

  private Leaks() {}

  /** "none", or what is still there after five seconds; arenas go with the garbage. */
  static String describe() throws IOException {
    String left = "";
    for (int round = 0; round < ROUNDS; round++) {
      System.gc();
      left = files() + mappings() + threads();
      if (left.isEmpty()) {
        return "none";
      }
      try {
        Thread.sleep(ROUND_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return left;
  }

  private static String files() throws IOException {
    StringBuilder left = new StringBuilder();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        String target = target(descriptor);
        // The class path's own jars have such names too.
        boolean isSegment = target.contains("rankfold-") && !target.endsWith(".jar");
        left.append(isSegment ? " file:" + target : "");
      }
    }
    return left.toString();
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "the folder's own, gone";
    }
  }

  private static String mappings() throws IOException {
    StringBuilder left = new StringBuilder();
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      maps.filter(map -> map.contains("rankfold-") && map.contains("(deleted)"))
          .forEach(map -> left.append(" mapping:").append(map.replaceAll(" +", " ")));
    }
    return left.toString();
  }

  private static String threads() {
    StringBuilder left = new StringBuilder();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("rankfold")) {
        left.append(" thread:").append(thread.getName());
      }
    }
    return left.toString();
  }
}
