// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.standalone;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/** The ports a process listens on, as Linux tells. */
final class Listening {
  private static final String LISTEN = "0A";
  private static final int LOCAL = 1;
  private static final int STATE = 3;
  private static final int INODE = 9;

  private Listening() {}

  static Set<Integer> ports(long pid) throws IOException {
    Set<String> sockets = new HashSet<>();
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/" + pid + "/fd"))) {
      for (Path descriptor : open) {
        sockets.add(Files.readSymbolicLink(descriptor).toString());
      }
    }
    Set<Integer> ports = new TreeSet<>();
    for (String table : new String[] {"tcp", "tcp6"}) {
      for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/net/" + table))) {
        String[] words = line.trim().split("\\s+", -1);
        if (words[STATE].equals(LISTEN) && sockets.contains("socket:[" + words[INODE] + "]")) {
          String port = words[LOCAL].substring(words[LOCAL].lastIndexOf(':') + 1);
          ports.add(Integer.parseInt(port, 16));
        }
      }
    }
    return ports;
  }
}
