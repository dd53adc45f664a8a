// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.sharedmemory;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * Work with files that an interrupt must not end: it closes the channel of whoever is inside. None
 * of it waits, so the interrupt stays pending until somebody does.
 */
final class Uninterrupted {
  /** What opens its channel itself, and closes it when it fails. */
  interface Work<T> {
    T run() throws IOException;
  }

  private Uninterrupted() {}

  static <T> T run(Work<T> work) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        interrupted |= Thread.interrupted();
        try {
          return work.run();
        } catch (ClosedByInterruptException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
