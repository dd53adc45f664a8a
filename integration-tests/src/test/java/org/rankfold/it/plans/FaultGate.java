// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.plans;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between a task's listener and those who dial it. One {@link Strike} is shared by the gates
 * of a group.
 */
final class FaultGate implements AutoCloseable {
  /** The plan of a group and when it struck. */
  static final class Strike {
    private final FaultPlan plan;
    private final Runnable onProcess;
    private final int latencyMs;
    private final AtomicLong atMs = new AtomicLong();

    /** {@code onProcess} kills or stops the plan's task. */
    Strike(FaultPlan plan, Runnable onProcess) {
      this(plan, onProcess, 0);
    }

    private Strike(FaultPlan plan, Runnable onProcess, int latencyMs) {
      this.plan = plan;
      this.onProcess = onProcess;
      this.latencyMs = latencyMs;
    }

    /** No strike: every byte of every connection comes so much later, each way. */
    static Strike late(int latencyMs) {
      FaultPlan none =
          new FaultPlan(0, FaultPlan.Kind.DELAY, -1, 0, FaultPlan.Phase.CALL, latencyMs, 0);
      return new Strike(none, () -> {}, latencyMs);
    }

    int latencyMs() {
      return latencyMs;
    }

    FaultPlan plan() {
      return plan;
    }

    /** When it struck, in milliseconds of the epoch; 0 when it has not. */
    long atMs() {
      return atMs.get();
    }

    /** Strikes once; says what the gate has to do then, null when nothing. */
    FaultPlan.Kind on(int sender, FaultPlan.Phase phase, long call) {
      if (!plan.strikes(sender, phase, call)
          || !atMs.compareAndSet(0, System.currentTimeMillis())) {
        return null;
      }
      if (plan.kind() == FaultPlan.Kind.KILL || plan.kind() == FaultPlan.Kind.STOP) {
        onProcess.run();
      }
      return plan.kind();
    }
  }

  private final int task;
  private final InetSocketAddress listener;
  private final Strike strike;
  private final ServerSocket door;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean isClosing;

  /** Opens a gate before a task's listener. */
  FaultGate(int task, InetSocketAddress listener, Strike strike) throws IOException {
    this.task = task;
    this.listener = listener;
    this.strike = strike;
    this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start("gate-" + task, this::accept);
  }

  int port() {
    return door.getLocalPort();
  }

  private void accept() {
    while (!isClosing) {
      try {
        Socket dialer = door.accept();
        sockets.add(dialer);
        Socket acceptor = new Socket();
        sockets.add(acceptor);
        dialer.setTcpNoDelay(true);
        acceptor.setTcpNoDelay(true);
        acceptor.connect(listener);
        if (isClosing) {
          close();
        }
        Relay.Pair pair = new Relay.Pair(task, dialer, acceptor, strike);
        start("to-" + task, pair::fromDialer);
        start("from-" + task, pair::fromAcceptor);
      } catch (IOException e) {
        // Nobody listens behind the gate any more, or the gate is closing.
      }
    }
  }

  private static void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    isClosing = true;
    try {
      door.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
