// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;

/** What processes of one machine tell each other by files of a folder, without Spark. */
final class Marks {
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);

  private Marks() {}

  /** Leaves a mark, whole at once. */
  static void put(Path folder, String name, String text) {
    try {
      Path part = Files.writeString(folder.resolve(name + ".part"), text);
      Files.move(part, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What a mark says, once it is there. */
  static String await(Path folder, String name) throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    while (!Files.exists(folder.resolve(name))) {
      if (System.nanoTime() - startNs > PATIENCE_NS) {
        throw new IOException("no mark " + name);
      }
      Thread.sleep(2);
    }
    return Files.readString(folder.resolve(name));
  }
}
