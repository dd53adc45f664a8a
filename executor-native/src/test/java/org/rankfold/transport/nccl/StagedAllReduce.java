// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.rankfold.contract.DType;
import org.rankfold.contract.ReduceContract;
import org.rankfold.cuda.CudaEvent;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.DeviceMemory;
import org.rankfold.deadline.AbortLatch;
import org.rankfold.deadline.Deadline;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.cuda.CudaFold;
import org.rankfold.transport.DeviceExchange.Move;
import org.rankfold.view.DeviceView;

/**
 * One task's all-reduce over an exchange, by hand: shards to their owners, the fold there, shards
 * back. One logical rank a task.
 */
final class StagedAllReduce implements AutoCloseable {
  /** How folded shards come back. */
  enum Way {
    /** By one gathering of equal shards, of an arena with room behind its elements. */
    GATHER,
    /** By sends of what there is, whose last may be short or nothing, from any byte. */
    SENDS
  }

  /** What one task does wrong, for tests that must notice. */
  enum Fault {
    /** Nothing. */
    NONE,
    /** The shards for the owners 0 and 2 change places. */
    SWAPPED,
    /** The shard for owner 0 is not sent. */
    DROPPED
  }

  private static final int VECTOR_BYTES = 16;
  private static final int SHIFT_ELEMENTS = 3;

  private final NcclExchange exchange;
  private final CudaFold fold;
  private final CudaStream stream;
  private final ReduceContract contract;
  private final Way way;
  private final Fault fault;
  private final int task;
  private final long count;
  private final long shard;
  private final DeviceMemory memory;
  private final DeviceView arena;
  private final DeviceView out;
  private final DeviceView slots;

  StagedAllReduce(
      NcclExchange exchange,
      CudaFold fold,
      CudaStream stream,
      ReduceContract contract,
      long count,
      Way way,
      Fault fault) {
    this.exchange = exchange;
    this.fold = fold;
    this.stream = stream;
    this.contract = contract;
    this.way = way;
    this.fault = fault;
    this.task = exchange.communicator().task();
    this.count = count;
    DType dtype = contract.dtype();
    long step = VECTOR_BYTES / dtype.bytes();
    long each = (count + contract.world() - 1) / contract.world();
    this.shard = Math.max(step, (each + step - 1) / step * step);
    long whole = shard * contract.world();
    long shift = way == Way.SENDS ? (long) SHIFT_ELEMENTS * dtype.bytes() : 0;
    long room = whole * dtype.bytes() + 2 * VECTOR_BYTES;
    this.memory = DeviceMemory.allocate(exchange.device(), 3 * room);
    // What lies behind the elements travels too. Copies from the host do not wait for the stream.
    memory.fill((byte) 0, stream);
    stream.await(
        Deadline.after(System.nanoTime(), NcclRank.TIMEOUTS.callNs()),
        exchange.communicator().latch());
    this.arena = memory.view(dtype, shift, whole);
    this.out = memory.view(dtype, room + shift, whole);
    this.slots = memory.view(dtype, 2 * room, whole);
  }

  /** This task's addend. */
  DeviceView addend() {
    return arena.slice(0, count);
  }

  /** The result. */
  DeviceView result() {
    return out.slice(0, count);
  }

  /** Enqueues all of it. */
  void enqueue() {
    int world = contract.world();
    List<Move> sends = new ArrayList<>();
    List<Move> receives = new ArrayList<>();
    DeviceView[] addends = new DeviceView[world];
    for (int peer = 0; peer < world; peer++) {
      addends[peer] = peer == task ? part(arena, task) : slot(peer);
      if (peer != task) {
        if (fault != Fault.DROPPED || peer != 0) {
          sends.add(new Move(peer, part(arena, fault == Fault.SWAPPED ? swapped(peer) : peer)));
        }
        receives.add(new Move(peer, slot(peer)));
      }
    }
    exchange.exchange(sends, receives, stream);
    DeviceView own = part(out, task);
    if (own.count() > 0) {
      fold.enqueue(contract, addends, new DeviceView[] {own}, stream);
    }
    if (way == Way.GATHER) {
      exchange.allGather(own, out, stream);
      return;
    }
    sends.clear();
    receives.clear();
    for (int peer = 0; peer < world; peer++) {
      if (peer != task) {
        sends.add(new Move(peer, own));
        receives.add(new Move(peer, part(out, peer)));
      }
    }
    exchange.exchange(sends, receives, stream);
  }

  /** Waits for what is enqueued, and for news of its failure. */
  void await(Deadline deadline, AbortLatch latch) {
    try (CudaEvent done = CudaEvent.create(exchange.device())) {
      done.record(stream);
      while (!done.isDone()) {
        exchange.check();
        if (latch.isTripped()) {
          throw latch.cause();
        }
        if (deadline.isExpired(System.nanoTime())) {
          throw new CollectiveException(
              ErrorCode.TIMEOUT,
              String.format(Locale.ROOT, "not done within %.3f s", deadline.budgetSeconds()));
        }
        LockSupport.parkNanos(20_000);
      }
    }
  }

  /** Only when nothing is in flight. */
  @Override
  public void close() {
    memory.close();
  }

  private static int swapped(int peer) {
    return peer == 0 ? 2 : peer == 2 ? 0 : peer;
  }

  private DeviceView part(DeviceView whole, int owner) {
    return whole.slice(Math.min(whole.count(), shard * owner), partCount(owner));
  }

  private DeviceView slot(int sender) {
    return slots.slice(shard * sender, partCount(task));
  }

  private long partCount(int owner) {
    return way == Way.GATHER ? shard : Math.max(0, Math.min(shard, count - shard * owner));
  }
}
