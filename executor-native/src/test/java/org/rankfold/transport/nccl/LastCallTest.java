// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

@Timeout(30)
class LastCallTest {
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);
  private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private final ReentrantLock inside = new ReentrantLock();

  @Test
  void shouldReturnToEverybodyWhenTheCallIsDone() {
    LastCall call = new LastCall(inside, "nccl task=1", LONG_NS);
    int[] runs = new int[1];
    call.start("ncclCommAbort", () -> runs[0]++);
    call.await("ncclCommAbort");
    call.await("ncclCommAbort");
    assertThat(runs).containsExactly(1);
    assertThat(inside.isLocked()).isFalse();
  }

  @Test
  void shouldGiveTheProcessUpWhenTheCallHangs() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    LastCall call = new LastCall(inside, "nccl task=1", SHORT_NS);
    call.start("ncclCommAbort", () -> awaitQuietly(release));
    assertFatal(call, "ncclCommAbort of nccl task=1 was not done within 0.020 s");
    release.countDown();
  }

  @Test
  void shouldGiveTheProcessUpWhenTheCallFails() {
    LastCall call = new LastCall(inside, "nccl task=1", LONG_NS);
    call.start(
        "ncclCommAbort",
        () -> {
          throw new IllegalStateException("as the library says");
        });
    assertFatal(call, "ncclCommAbort of nccl task=1 failed: as the library says");
    assertThat(inside.isLocked()).isFalse();
  }

  @Test
  void shouldNotCallWhenAnotherThreadStaysInside() {
    LastCall call = new LastCall(inside, "nccl task=1", SHORT_NS);
    boolean[] isCalled = new boolean[1];
    inside.lock();
    try {
      call.start("ncclCommAbort", () -> isCalled[0] = true);
      assertFatal(call, "ncclCommAbort of nccl task=1 ");
      assertThat(isCalled[0]).isFalse();
    } finally {
      inside.unlock();
    }
  }

  @Test
  void shouldGoOnWaitingWhenInterrupted() {
    CountDownLatch release = new CountDownLatch(1);
    LastCall call = new LastCall(inside, "nccl task=1", LONG_NS);
    call.start("ncclCommAbort", () -> awaitQuietly(release));
    Thread.currentThread().interrupt();
    release.countDown();
    call.await("ncclCommAbort");
    assertThat(Thread.interrupted()).isTrue();
  }

  private static void assertFatal(LastCall call, String message) {
    assertThatThrownBy(() -> call.await("ncclCommAbort"))
        .isInstanceOf(CollectiveException.class)
        .hasMessageStartingWith(message)
        .extracting(e -> ((CollectiveException) e).code())
        .isEqualTo(ErrorCode.MEMORY_STILL_BORROWED);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
