// SPDX-License-Identifier: Apache-2.0
package org.rankfold.liveness;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Looks at everything watched at a steady pace, on one daemon thread that lives while something is
 * watched. One instance a process. Thread-safe.
 */
public final class Watchdog {
  /** The process's own: a look every 100 ms. */
  public static final Watchdog PROCESS =
      new Watchdog("rankfold-watchdog", TimeUnit.MILLISECONDS.toNanos(100));

  /** What is looked at. */
  @FunctionalInterface
  public interface Watched {
    /**
     * Looks, and acts on what it sees. Must return at once and throw nothing: one that throws is
     * not looked at again.
     *
     * @param nowNs the {@link System#nanoTime()} line
     */
    void look(long nowNs);
  }

  /** Ends the looking. */
  public interface Watch extends AutoCloseable {
    /** No look begins after this returned; idempotent. Must not be called from a look. */
    @Override
    void close();
  }

  private final String threadName;
  private final long paceNs;
  private final Object lock = new Object();
  private final List<Watched> watched = new ArrayList<>();
  private Thread thread;

  /**
   * A watchdog without a thread; other than {@link #PROCESS} for tests.
   *
   * @param threadName what its thread is called
   * @param paceNs between two looks
   */
  public Watchdog(String threadName, long paceNs) {
    this.threadName = threadName;
    this.paceNs = paceNs;
  }

  /**
   * Looks at something from now on.
   *
   * @param subject what to look at
   * @return to end it
   */
  public Watch watch(Watched subject) {
    synchronized (lock) {
      watched.add(subject);
      if (thread == null) {
        thread = new Thread(this::run, threadName);
        thread.setDaemon(true);
        thread.start();
      }
    }
    return () -> {
      synchronized (lock) {
        watched.remove(subject);
        lock.notifyAll();
      }
    };
  }

  private void run() {
    synchronized (lock) {
      while (!watched.isEmpty()) {
        lookAll(System.nanoTime());
        try {
          TimeUnit.NANOSECONDS.timedWait(lock, paceNs);
        } catch (InterruptedException e) {
          // Nobody but a closing JVM interrupts this thread, and what is watched still counts.
        }
      }
      thread = null;
    }
  }

  /** One round of looks. */
  void lookAll(long nowNs) {
    synchronized (lock) {
      watched.removeIf(
          subject -> {
            try {
              subject.look(nowNs);
              return false;
            } catch (RuntimeException e) {
              return true;
            }
          });
    }
  }
}
