// SPDX-License-Identifier: Apache-2.0
package org.rankfold.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class WatchdogTest {
  private static final long NEVER_NS = TimeUnit.HOURS.toNanos(1);

  @Test
  void shouldPassTheTimeToEverythingWatchedWhenItLooks() {
    Watchdog watchdog = new Watchdog("watchdog-test", NEVER_NS);
    List<String> seen = new CopyOnWriteArrayList<>();
    try (Watchdog.Watch a = watchdog.watch(nowNs -> seen.add("a" + nowNs));
        Watchdog.Watch b = watchdog.watch(nowNs -> seen.add("b" + nowNs))) {
      watchdog.lookAll(-7);
      assertTrue(seen.containsAll(List.of("a-7", "b-7")), a + " " + b + " " + seen);
    }
  }

  @Test
  void shouldNotLookAgainWhenALookThrewOrWasClosed() {
    Watchdog watchdog = new Watchdog("watchdog-test", NEVER_NS);
    List<Long> thrown = new CopyOnWriteArrayList<>();
    List<Long> closed = new CopyOnWriteArrayList<>();
    try (Watchdog.Watch kept = watchdog.watch(nowNs -> {})) {
      Watchdog.Watch ending = watchdog.watch(closed::add);
      watchdog.watch(
          nowNs -> {
            thrown.add(nowNs);
            throw new IllegalStateException("look");
          });
      watchdog.lookAll(-1);
      ending.close();
      watchdog.lookAll(-2);
      assertEquals(1, thrown.size(), kept + " " + thrown);
      assertTrue(closed.contains(-1L) && !closed.contains(-2L), closed.toString());
    }
  }

  @Test
  void shouldEndItsThreadWhenNothingIsWatched() throws InterruptedException {
    Watchdog watchdog = new Watchdog("watchdog-test", NEVER_NS);
    CountDownLatch looked = new CountDownLatch(1);
    AtomicReference<Thread> thread = new AtomicReference<>();
    Watchdog.Watch watch =
        watchdog.watch(
            nowNs -> {
              thread.set(Thread.currentThread());
              looked.countDown();
            });
    assertTrue(looked.await(10, TimeUnit.SECONDS), "no look");
    watch.close();
    thread.get().join(TimeUnit.SECONDS.toMillis(10));
    assertTrue(!thread.get().isAlive(), "the thread lives on");
  }
}
