// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.rooms.wrong.fold;

import java.net.Socket;
import java.util.concurrent.ExecutorService;
import org.apache.spark.SparkConf;
import org.rankfold.it.rooms.wrong.errors.LooksDown;

/** A fold that knows Spark, sockets and threads, and closes a circle. */
public final class Adds {
  private Socket socket;
  private LooksDown above;

  /** Shows a foreign type. */
  public String connect(SparkConf conf) {
    return conf.toDebugString() + socket.isClosed() + above.hashCode();
  }

  void open(ExecutorService threads) {
    threads.shutdown();
    socket = new Socket();
    new Thread(socket::isClosed).start();
    above = new LooksDown();
  }
}
