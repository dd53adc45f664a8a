// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark.bootstrap;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Which process a task lives in, told apart from every other one: two tasks share memory exactly
 * when all four are equal.
 *
 * @param bootId the kernel's boot, or "unknown"
 * @param pidNamespace the process id namespace, or "unknown"
 * @param pid the process id within it
 * @param startNonce random, drawn when this class was loaded: copies of Rankfold in several class
 *     loaders of one process count as several processes, since they share no group registry
 */
record ProcessIdentity(String bootId, String pidNamespace, long pid, String startNonce) {
  /** This process. */
  static final ProcessIdentity OWN =
      new ProcessIdentity(
          read(() -> Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim()),
          read(() -> Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString()),
          ProcessHandle.current().pid(),
          UUID.randomUUID().toString());

  private interface Source {
    String read() throws IOException;
  }

  private static String read(Source source) {
    try {
      return source.read();
    } catch (IOException | UnsupportedOperationException | SecurityException e) {
      return "unknown";
    }
  }
}
