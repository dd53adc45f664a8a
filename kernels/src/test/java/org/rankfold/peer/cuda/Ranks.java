// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rankfold.contract.DType;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.Deadline;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.view.DeviceView;

/** All ranks of a test's group on one device: as a cohort, and as an event arm of a stream each. */
final class Ranks implements AutoCloseable {
  /** No wait on the device is longer, whatever a test does wrong. */
  static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(1500);

  final PeerCohort cohort;
  final CudaStream stream;
  final List<PeerMemory> memory = new ArrayList<>();
  private final CudaDevice device;
  private final List<CudaStream> streams = new ArrayList<>();
  private final List<CudaEvent> events = new ArrayList<>();
  private final List<EventRank> eventRanks = new ArrayList<>();

  Ranks(PeerKernels kernels, int ranks, long setBytes, PeerTimeouts timeouts) {
    this.device = kernels.device();
    this.stream = CudaStream.create(device);
    for (int r = 0; r < ranks; r++) {
      memory.add(PeerMemory.allocate(device, setBytes));
    }
    this.cohort = PeerCohort.of(kernels, stream, memory, timeouts);
  }

  Ranks(PeerKernels kernels, int ranks, long setBytes) {
    this(kernels, ranks, setBytes, PeerTimeouts.of(TIMEOUT_NS));
  }

  int count() {
    return memory.size();
  }

  /** What a rank enqueues. */
  @FunctionalInterface
  interface RankPart {
    void accept(int rank, EventRank events);
  }

  /** Runs a call of all ranks and waits; throws what a rank refused. */
  void run(PeerCall call, PeerPath path, DeviceView[] addends, DeviceView[] outs) {
    cohort.enqueue(call, path, operands(addends, outs));
    await();
    cohort.check();
  }

  /** The same all-reduce by the event arm, a stream a rank. */
  void runByEvents(CudaFold fold, PeerCall call, DeviceView[] addends, DeviceView[] outs) {
    runByEvents(fold, (rank, events) -> events.pushShard(call.contract(), addends, outs));
  }

  /** Any call by the event arm: what each rank, by its number, enqueues between the marks. */
  void runByEvents(CudaFold fold, RankPart part) {
    if (eventRanks.isEmpty()) {
      openEvents(fold);
    }
    eventRanks.forEach(EventRank::markReady);
    for (int rank = 0; rank < eventRanks.size(); rank++) {
      part.accept(rank, eventRanks.get(rank));
    }
    eventRanks.forEach(EventRank::awaitPushed);
    streams.forEach(Ranks::await);
  }

  private void openEvents(CudaFold fold) {
    List<CudaEvent> ready = new ArrayList<>();
    List<CudaEvent> pushed = new ArrayList<>();
    for (int r = 0; r < count(); r++) {
      streams.add(CudaStream.create(device));
      ready.add(CudaEvent.create(device));
      pushed.add(CudaEvent.create(device));
    }
    events.addAll(ready);
    events.addAll(pushed);
    for (int r = 0; r < count(); r++) {
      eventRanks.add(new EventRank(fold, streams.get(r), r, ready, pushed));
    }
  }

  static PeerOperands operands(DeviceView[] addends, DeviceView[] outs) {
    return new PeerOperands(
        Arrays.stream(addends).mapToLong(DeviceView::address).toArray(),
        Arrays.stream(outs).mapToLong(DeviceView::address).toArray());
  }

  void await() {
    await(stream);
  }

  static void await(CudaStream stream) {
    stream.await(Deadline.after(System.nanoTime(), TimeUnit.SECONDS.toNanos(30)), null);
  }

  /** Room in a staging set for one operand a logical rank. */
  static long setBytes(DType dtype, long count, int world) {
    return (count * dtype.bytes() + 512) / 256 * 256 * world;
  }

  @Override
  public void close() {
    await();
    events.forEach(CudaEvent::close);
    streams.forEach(CudaStream::close);
    stream.close();
    memory.forEach(PeerMemory::close);
  }
}
