// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.collective.CollectiveHandle;
import org.rankfold.collective.Communicator;
import org.rankfold.collective.StreamCommunicator;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaStream;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.group.LoopbackGroup;
import org.rankfold.memory.DeviceBuffer;
import org.rankfold.transport.RankTable;
import org.rankfold.transport.cudapeer.CopyHub;
import org.rankfold.transport.cudapeer.CopyOptions;
import org.rankfold.view.DeviceView;
import org.rankfold.view.View;

/**
 * Calls in the order of the caller's stream: a kernel that writes the addend late comes before, a
 * copy of the result behind, and the host waits for neither.
 */
@Tag("gpu")
@Timeout(120)
class StreamOrderGpuTest {
  private static final int TASKS = 3;
  private static final int WORLD = 8;
  private static final int COUNT = 24 * 1024;
  private static final long LATE_NS = TimeUnit.MILLISECONDS.toNanos(60);
  private static final long SECONDS_NS = TimeUnit.SECONDS.toNanos(1);

  /** What is called. */
  enum Kind {
    CHAIN,
    SUBTREES,
    ADDENDS,
    SCATTER,
    GATHER,
    BROADCAST
  }

  @BeforeAll
  static void open() {
    DeviceTasks.requireDevice();
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadWhatTheStreamWritesAndBeReadByWhatItDoesNext(Kind kind) throws Exception {
    List<Boolean> early =
        run(
            kind == Kind.ADDENDS ? PartialsRule.NEVER : PartialsRule.ALWAYS,
            60,
            communicator -> {
              try (Memory memory = new Memory(communicator, kind)) {
                // Kernels are compiled and pairs connected.
                memory.writeLate(0);
                memory.call(communicator.onStream(memory.stream)).await();
                memory.reset();
                memory.writeLate(LATE_NS);
                long startNs = System.nanoTime();
                CollectiveHandle handle = memory.call(communicator.onStream(memory.stream));
                memory.stream.copy(memory.out, memory.read);
                boolean isEarly = !handle.isDone() && System.nanoTime() - startNs < LATE_NS;
                handle.await();
                assertThat(handle.isDone()).isTrue();
                assertThat(memory.values(memory.out)).containsOnly(memory.expected());
                memory.settle();
                assertThat(memory.values(memory.read)).containsOnly(memory.expected());
                return isEarly;
              }
            });
    System.out.printf("%s on a stream: returned before the addends were there: %s%n", kind, early);
    assertThat(early).containsOnly(true);
  }

  /** What the order is for: without it the call reads what was there before. */
  @ParameterizedTest
  @EnumSource
  void shouldReadWhatWasThereBeforeWhenTheCallIsInNoStream(Kind kind) throws Exception {
    run(
        kind == Kind.ADDENDS ? PartialsRule.NEVER : PartialsRule.ALWAYS,
        60,
        communicator -> {
          try (Memory memory = new Memory(communicator, kind)) {
            memory.writeLate(0);
            memory.call(communicator.onStream(memory.stream)).await();
            memory.reset();
            memory.writeLate(10 * LATE_NS);
            memory.callUnordered(communicator);
            assertThat(memory.values(memory.out)).doesNotContain(memory.expected());
            memory.settle();
            return true;
          }
        });
  }

  /** The reader behind a call that a task makes only once all readers have read. */
  @Test
  void shouldReadNoResultWhenTheReaderIsInNoOrder() throws Exception {
    CountDownLatch read = new CountDownLatch(TASKS - 1);
    run(
        PartialsRule.ALWAYS,
        60,
        communicator -> {
          try (Memory memory = new Memory(communicator, Kind.CHAIN)) {
            memory.writeLate(0);
            memory.settle();
            if (communicator.info().task() == TASKS - 1) {
              assertThat(read.await(60, TimeUnit.SECONDS)).isTrue();
            }
            CollectiveHandle handle =
                communicator.allReduceAsync(
                    ReduceOp.SUM, FoldOrder.RANK_LEFT, memory.inputs, memory.out);
            memory.stream.copy(memory.out, memory.read);
            memory.settle();
            read.countDown();
            handle.await();
            if (communicator.info().task() < TASKS - 1) {
              assertThat(memory.values(memory.read)).doesNotContain(memory.expected());
            }
            return true;
          }
        });
  }

  @Test
  void shouldKeepManyCallsInOrderWhenNobodyWaitsBetweenThem() throws Exception {
    int calls = 300;
    run(
        PartialsRule.ALWAYS,
        60,
        communicator -> {
          try (Memory memory = new Memory(communicator, Kind.CHAIN)) {
            StreamCommunicator ordered = communicator.onStream(memory.stream);
            memory.writeLate(0);
            memory.call(ordered).await();
            long free = 0;
            CollectiveHandle last = null;
            for (int call = 0; call < calls; call++) {
              if (call == 50) {
                free = CudaDevice.of(0).freeBytes();
              }
              memory.reset(memory.stream, (byte) call);
              memory.writeLate(0);
              last = memory.call(ordered);
            }
            last.await();
            assertThat(memory.values(memory.out)).containsOnly(memory.expected());
            assertThat(free - CudaDevice.of(0).freeBytes()).isLessThan(16L << 20);
            return true;
          }
        });
  }

  @Test
  void shouldEndEveryTaskWhenAStreamDoesNotComeToTheCall() throws Exception {
    long startNs = System.nanoTime();
    List<ErrorCode> codes =
        run(
            PartialsRule.ALWAYS,
            1,
            communicator -> {
              try (Memory memory = new Memory(communicator, Kind.CHAIN)) {
                memory.writeLate(communicator.info().task() == 1 ? 4 * SECONDS_NS : 0);
                CollectiveHandle handle = memory.call(communicator.onStream(memory.stream));
                CollectiveException lost = null;
                try {
                  handle.await();
                } catch (CollectiveException e) {
                  lost = e;
                }
                assertThat(lost).as("task %d", communicator.info().task()).isNotNull();
                assertThat(handle.isDone()).isTrue();
                assertThatThrownBy(handle::await).isSameAs(lost);
                assertThatThrownBy(() -> memory.call(communicator.onStream(memory.stream)))
                    .isInstanceOf(CollectiveException.class);
                memory.settle();
                return lost.code();
              }
            });
    assertThat(codes).containsOnly(ErrorCode.TIMEOUT);
    assertThat(System.nanoTime() - startNs).isLessThan(20 * SECONDS_NS);
  }

  /** Without an exchange the host waits for the stream; the order is the same. */
  @Test
  void shouldKeepTheOrderWhenMemoryIsFoldedWhereItLies() {
    LoopbackGroup.of(WORLD, TASKS)
        .device(0)
        .run(
            communicator -> {
              try (Memory memory = new Memory(communicator, Kind.CHAIN)) {
                memory.writeLate(LATE_NS);
                CollectiveHandle handle = memory.call(communicator.onStream(memory.stream));
                memory.stream.copy(memory.out, memory.read);
                assertThat(handle.isDone()).isTrue();
                memory.settle();
                assertThat(memory.values(memory.read)).containsOnly(memory.expected());
                return true;
              }
            });
  }

  private static <R> List<R> run(
      PartialsRule rule, long timeoutSeconds, LoopbackGroup.RankBody<R> body) throws Exception {
    CopyHub hub = new CopyHub(TASKS, CopyOptions.PLAIN);
    return DeviceTasks.run(
        new RankTable(WORLD, TASKS),
        new EngineSettings(64, timeoutSeconds * SECONDS_NS, 20 * SECONDS_NS, rule),
        (task, device, latch) -> hub.join(task, device, 60 * SECONDS_NS, latch),
        body);
  }

  /** One task's views: rank r's addend is r + 1 everywhere once it was written, -1 before. */
  private static final class Memory implements AutoCloseable {
    private final Kind kind;
    private final int firstRank;
    private final LateWriter writer = new LateWriter(CudaDevice.of(0));
    private final CudaStream stream = CudaStream.create(CudaDevice.of(0));
    private final List<DeviceBuffer> owned = new ArrayList<>();
    private final List<View> inputs = new ArrayList<>();
    private final List<View> parts = new ArrayList<>();
    private final DeviceView out;
    private final DeviceView read;
    private final Communicator communicator;

    Memory(Communicator communicator, Kind kind) {
      this.communicator = communicator;
      this.kind = kind;
      this.firstRank = communicator.info().firstRank();
      int ranks = communicator.info().rankCount();
      int outs = kind == Kind.GATHER ? WORLD * COUNT : COUNT;
      int part = COUNT / WORLD;
      if (kind == Kind.SCATTER) {
        outs = ranks * part;
      }
      this.out = room(outs);
      this.read = room(outs);
      for (int r = 0; r < ranks; r++) {
        inputs.add(kind == Kind.BROADCAST ? out : room(COUNT));
        if (kind == Kind.SCATTER) {
          parts.add(out.slice((long) r * part, part));
        }
      }
      reset();
    }

    private DeviceView room(int count) {
      owned.add(communicator.allocateOnDevice(DType.F32, count));
      return owned.get(owned.size() - 1).view();
    }

    void reset() {
      reset(stream, (byte) 0xBF);
      settle();
    }

    /** Overwrites everything, in the order of a stream. */
    void reset(CudaStream on, byte value) {
      float filling = -1f - (value & 0xFF);
      for (DeviceBuffer buffer : owned) {
        writer.write(buffer.view(), filling, 0, on);
      }
    }

    /** Enqueues the writing of the addends, each some time after the stream came to it. */
    void writeLate(long lateNs) {
      for (int r = 0; r < inputs.size(); r++) {
        writer.write((DeviceView) inputs.get(r), firstRank + r + 1f, r == 0 ? lateNs : 0, stream);
      }
    }

    CollectiveHandle call(StreamCommunicator ordered) {
      return switch (kind) {
        case CHAIN, ADDENDS -> ordered.allReduce(ReduceOp.SUM, FoldOrder.RANK_LEFT, inputs, out);
        case SUBTREES -> ordered.allReduce(ReduceOp.SUM, FoldOrder.RANK_TREE, inputs, out);
        case SCATTER -> ordered.reduceScatter(ReduceOp.SUM, FoldOrder.RANK_LEFT, inputs, parts);
        case GATHER -> ordered.allGather(inputs, out);
        case BROADCAST -> ordered.broadcast(WORLD - 1, out);
      };
    }

    void callUnordered(Communicator unordered) {
      switch (kind) {
        case CHAIN, ADDENDS -> unordered.allReduce(ReduceOp.SUM, FoldOrder.RANK_LEFT, inputs, out);
        case SUBTREES -> unordered.allReduce(ReduceOp.SUM, FoldOrder.RANK_TREE, inputs, out);
        case SCATTER -> unordered.reduceScatter(ReduceOp.SUM, FoldOrder.RANK_LEFT, inputs, parts);
        case GATHER -> unordered.allGather(inputs, out);
        case BROADCAST -> unordered.broadcast(WORLD - 1, out);
      }
    }

    /** All sums are 1 + ... + 8; gathered rows and what a root sends are told by their least. */
    Float expected() {
      return switch (kind) {
        case CHAIN, SUBTREES, ADDENDS, SCATTER -> 36f;
        case GATHER -> 1f;
        case BROADCAST -> (float) WORLD;
      };
    }

    /** Waits for the stream. */
    void settle() {
      stream.await(Deadline.after(System.nanoTime(), 30 * SECONDS_NS), null);
    }

    /** The distinct values; of gathered rows, 1 for each that is in its place. */
    List<Float> values(DeviceView view) {
      float[] values = new float[(int) view.count()];
      view.copyTo(View.of(values));
      List<Float> distinct = new ArrayList<>();
      for (int i = 0; i < values.length; i++) {
        int row = kind == Kind.GATHER ? i / COUNT : 0;
        float value = values[i] - row;
        if (!distinct.contains(value)) {
          distinct.add(value);
        }
      }
      return distinct;
    }

    @Override
    public void close() {
      settle();
      owned.forEach(DeviceBuffer::close);
      writer.close();
      stream.close();
    }
  }
}
