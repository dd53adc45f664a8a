// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import org.rankfold.contract.ReduceContract;
import org.rankfold.spark.RankContext;
import org.rankfold.wire.DialerHandshake;
import org.rankfold.wire.GroupSecret;
import org.rankfold.wire.GroupTerms;
import org.rankfold.wire.RefusedBytes;

/** A task of an attempt that is over, which greets the processes of the next one. */
record StalePeer(String group, int task, int world, int tasks) {
  /** As who greets is never asked for its proof, any secret will do. */
  private static final byte[] SECRET =
      "nobody's secret, long enough".getBytes(StandardCharsets.US_ASCII);

  private static final int CHUNK_BYTES = 256 << 10;
  private static final int PATIENCE_MS = 5000;

  static StalePeer of(RankContext context) {
    return new StalePeer(context.group(), context.task(), context.world(), context.tasks());
  }

  /** Greets every listener of a range of ports; with what they refuse. */
  Set<String> refusals(int firstPort, int lastPort) throws IOException {
    Set<String> refusals = new TreeSet<>();
    for (int port = firstPort; port <= lastPort; port++) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MS);
        refusals.add(refusal(socket));
      } catch (java.net.ConnectException e) {
        // Nobody listens on this one.
      }
    }
    return refusals;
  }

  private String refusal(Socket socket) throws IOException {
    socket.setSoTimeout(PATIENCE_MS);
    DialerHandshake handshake =
        new DialerHandshake(
            new GroupSecret(group, SECRET),
            new GroupTerms(world, tasks, ReduceContract.VERSION, CHUNK_BYTES, false),
            task + 1,
            task,
            new byte[] {
              1,
              2,
              3,
              4,
              5,
              6,
              7,
              8,
              9,
              10,
              11,
              12,
              13,
              14,
              15,
              16,
              17,
              18,
              19,
              20,
              21,
              22,
              23,
              24,
              25,
              26,
              27,
              28,
              29,
              30,
              31,
              (byte) task
            });
    socket.getOutputStream().write(handshake.hello());
    byte[] reply = socket.getInputStream().readNBytes(DialerHandshake.REPLY_BYTES);
    try {
      handshake.onReply(reply);
      return "WELCOME";
    } catch (RefusedBytes e) {
      return e.refusal().name();
    }
  }
}
