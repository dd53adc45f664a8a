// SPDX-License-Identifier: Apache-2.0
package org.rankfold.collective;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * Runs a communicator's calls one after the other on a thread of its own, made when the first
 * asynchronous call comes. Only the communicator's caller enqueues.
 */
final class CallQueue {
  private static final AtomicInteger THREADS = new AtomicInteger();

  /** Queued last: the thread ends when it comes to it. */
  private final Runnable end = new End();

  private final LinkedBlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
  private final AtomicInteger pending = new AtomicInteger();
  private final Thread thread;

  CallQueue(int task) {
    thread = new Thread(this::run, "rankfold-calls-" + task + "-" + THREADS.incrementAndGet());
    thread.setDaemon(true);
    thread.start();
  }

  CollectiveHandle add(Runnable call) {
    return enqueue(call);
  }

  /**
   * Queues a call and waits until it ended. An interrupt aborts the group and stays pending; the
   * wait goes on, since peers may be inside the call's memory until the engine says otherwise.
   */
  void run(Runnable call, Consumer<CollectiveException> abort) {
    Entry entry = enqueue(call);
    boolean interrupted = false;
    while (!entry.isDone()) {
      try {
        entry.done.await();
      } catch (InterruptedException e) {
        if (!interrupted) {
          abort.accept(
              new CollectiveException(
                  ErrorCode.CANCELLED, "interrupted in a call behind asynchronous ones"));
        }
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    entry.throwFailure();
  }

  private Entry enqueue(Runnable call) {
    Entry entry = new Entry(call);
    pending.incrementAndGet();
    calls.add(entry);
    return entry;
  }

  /** Whether nothing is queued or running; stays so until the caller adds. */
  boolean isIdle() {
    return pending.get() == 0;
  }

  /** Ends the thread after what is queued; every call ends by the engine's own deadlines. */
  void close() {
    calls.add(end);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join(TimeUnit.SECONDS.toMillis(1));
      } catch (InterruptedException e) {
        interrupted = true;
        thread.interrupt();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      for (Runnable call = calls.take(); call != end; call = calls.take()) {
        call.run();
      }
    } catch (InterruptedException e) {
      // Interrupted between calls: what is still queued runs into the same interrupt and says so.
      Thread.currentThread().interrupt();
      for (Runnable call = calls.poll(); call != null && call != end; call = calls.poll()) {
        call.run();
      }
    }
  }

  private static final class End implements Runnable {
    @Override
    public void run() {}
  }

  private final class Entry implements CollectiveHandle, Runnable {
    private final Runnable call;
    private final CountDownLatch done = new CountDownLatch(1);
    private Throwable failure;

    Entry(Runnable call) {
      this.call = call;
    }

    @Override
    public void run() {
      try {
        call.run();
      } catch (RuntimeException | Error e) {
        failure = e;
      } finally {
        pending.decrementAndGet();
        done.countDown();
      }
    }

    @Override
    public void await() {
      try {
        done.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CollectiveException(
            ErrorCode.CANCELLED, "interrupted while waiting for an asynchronous call", e);
      }
      throwFailure();
    }

    private void throwFailure() {
      if (failure instanceof RuntimeException e) {
        throw e;
      }
      if (failure instanceof Error e) {
        throw e;
      }
    }

    @Override
    public boolean isDone() {
      return done.getCount() == 0;
    }
  }
}
