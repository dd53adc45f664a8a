// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rankfold.cuda.CudaStream;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.errors.OutState;

/**
 * Launches calls for one rank, or on one device for all of them at once. Every launch's blocks are
 * resident together. One thread at a time.
 */
final class PeerLauncher {
  /** Most blocks of a rank in a one-shot call: each has words of its own. */
  static final int PUSH_BLOCKS = 64;

  private static final long BLOCK_BYTES = 8192;

  /** Training repeats a few calls: what is reckoned of them is kept. */
  private static final int MOST_SPLITS = 256;

  private record Shape(PeerCall call, PeerPath path, int most) {}

  private final PeerKernels kernels;
  private final CudaStream stream;
  private final List<PeerSeat> seats;
  private final List<PeerMemory> own;
  private final int firstRank;
  private final PeerTimeouts timeouts;
  private final long[] reports;
  private final Map<Shape, PeerArguments.Split> splits = new HashMap<>();

  /** Set by tests, whose kernels know faults. */
  PeerFault fault = PeerFault.NONE;

  /** Most blocks of a rank; a test or a measurement may ask for others. */
  int mostBlocks;

  private PeerLauncher(
      PeerKernels kernels,
      CudaStream stream,
      List<PeerSeat> seats,
      List<PeerMemory> own,
      int firstRank,
      PeerTimeouts timeouts) {
    this.kernels = kernels;
    this.stream = stream;
    this.seats = List.copyOf(seats);
    this.own = List.copyOf(own);
    this.firstRank = firstRank;
    this.timeouts = timeouts;
    this.mostBlocks = kernels.device().info().multiprocessors();
    this.reports = new long[seats.size()];
    for (int i = 0; i < own.size(); i++) {
      reports[firstRank + i] = own.get(i).reportAddress();
    }
  }

  /** For one rank of several devices. */
  static PeerLauncher ofRank(
      PeerKernels kernels,
      CudaStream stream,
      List<PeerSeat> seats,
      PeerMemory own,
      int rank,
      PeerTimeouts timeouts) {
    checkSeats(seats);
    if (rank < 0 || rank >= seats.size()) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT, "rank=%d of ranks=%d", rank, seats.size());
    }
    Map<String, Integer> rankOf = new HashMap<>();
    for (int r = 0; r < seats.size(); r++) {
      Integer other = rankOf.putIfAbsent(seats.get(r).deviceUuid(), r);
      if (other != null) {
        throw CollectiveException.usage(
            ErrorCode.UNSUPPORTED,
            "rank=%d device=%s == rank=%d device: kernels of two launches on one device may never"
                + " run together, and each would wait for the other",
            r,
            seats.get(r).deviceUuid(),
            other);
      }
    }
    return new PeerLauncher(kernels, stream, seats, List.of(own), rank, timeouts);
  }

  /** For all ranks of one device in each launch. */
  static PeerLauncher ofAll(
      PeerKernels kernels, CudaStream stream, List<PeerMemory> own, PeerTimeouts timeouts) {
    List<PeerSeat> seats = own.stream().map(PeerMemory::seat).toList();
    checkSeats(seats);
    return new PeerLauncher(kernels, stream, seats, own, 0, timeouts);
  }

  private static void checkSeats(List<PeerSeat> seats) {
    if (seats.isEmpty() || seats.size() > PeerArguments.MAX_RANKS) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_WORLD,
          "ranks=%d is not inside 1 to %d",
          seats.size(),
          PeerArguments.MAX_RANKS);
    }
    for (PeerSeat seat : seats) {
      if (seat.setBytes() != seats.get(0).setBytes()) {
        throw CollectiveException.usage(
            ErrorCode.INVALID_ARGUMENT,
            "staging setBytes=%d != rank=0 setBytes=%d",
            seat.setBytes(),
            seats.get(0).setBytes());
      }
    }
  }

  void enqueue(PeerCall call, PeerPath path, PeerOperands operands) {
    check(call, path, operands);
    throwRefusal(true);
    PeerKernels.Ready ready = kernels.of(call);
    int launched = own.size();
    int most = Math.min(ready.residentBlocks() / launched, mostBlocks);
    if (most < 1) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED,
          "ranks=%d in one launch > resident blocks=%d of %s: blocks that wait for one another must"
              + " all run at once",
          launched,
          ready.residentBlocks(),
          kernels.device().name());
    }
    PeerArguments.Split split = split(call, path, most);
    byte[] arguments =
        PeerArguments.of(
            call,
            split,
            operands,
            seats,
            reports,
            firstRank,
            timeouts,
            ready.code().capacity(),
            fault);
    ready
        .kernel()
        .launchTogether(split.blocks(), launched, ready.code().threads(), arguments, stream);
  }

  private PeerArguments.Split split(PeerCall call, PeerPath path, int most) {
    if (splits.size() >= MOST_SPLITS) {
      splits.clear();
    }
    return splits.computeIfAbsent(new Shape(call, path, most), this::split);
  }

  private PeerArguments.Split split(Shape shape) {
    PeerCall call = shape.call();
    int ranks = seats.size();
    if (shape.path() == PeerPath.MAPPED) {
      long each = call.kind() == PeerKind.ALL_GATHER ? call.bytes() : call.bytes() / ranks + 1;
      int blocks = blocks(each, shape.most());
      return new PeerArguments.Split(
          shape.path(), blocks, 0, call.hash(ranks, shape.path(), blocks, 0));
    }
    long step = PeerArguments.VECTOR_BYTES / call.dtype().bytes();
    int wanted = blocks(call.bytes(), Math.min(shape.most(), PUSH_BLOCKS));
    long chunk = Math.max(step, (call.count() + wanted - 1) / wanted);
    chunk = (chunk + step - 1) / step * step;
    int blocks = (int) Math.max(1, (call.count() + chunk - 1) / chunk);
    return new PeerArguments.Split(
        shape.path(), blocks, chunk, call.hash(ranks, shape.path(), blocks, chunk));
  }

  private static int blocks(long bytes, int most) {
    return (int) Math.max(1, Math.min(most, (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES));
  }

  private void check(PeerCall call, PeerPath path, PeerOperands operands) {
    int world = call.contract().world();
    int ranks = seats.size();
    if (world < ranks) {
      throw CollectiveException.usage(ErrorCode.INVALID_WORLD, "world=%d < ranks=%d", world, ranks);
    }
    if (operands.addends().length != world || operands.outs().length != ranks) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "addends=%d outs=%d != world=%d ranks=%d",
          operands.addends().length,
          operands.outs().length,
          world,
          ranks);
    }
    if (path == PeerPath.STAGED
        || (path == PeerPath.ONE_SHOT && call.kind() != PeerKind.ALL_REDUCE)) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED, "path=%s of %s is not a kernel's", path, call.id());
    }
    long slotBytes = PeerArguments.slotBytes(seats.get(0).setBytes(), world);
    if (path == PeerPath.ONE_SHOT && call.bytes() > slotBytes) {
      throw CollectiveException.usage(
          ErrorCode.TOO_LITTLE_MEMORY,
          "bytes=%d > slot=%d of setBytes=%d for world=%d",
          call.bytes(),
          slotBytes,
          seats.get(0).setBytes(),
          world);
    }
  }

  /** Throws what a launched rank reported; of a later call nothing was touched. */
  private void throwRefusal(boolean isLaterCall) {
    for (int i = 0; i < own.size(); i++) {
      CollectiveException refusal = refusal(i);
      if (refusal != null && isLaterCall) {
        throw new CollectiveException(
            refusal.code(), refusal.getMessage(), OutState.UNTOUCHED, refusal);
      }
      if (refusal != null) {
        throw refusal;
      }
    }
  }

  void throwRefusal() {
    throwRefusal(false);
  }

  /** What the i-th launched rank reported, or null. */
  CollectiveException refusal(int i) {
    ByteBuffer bytes = own.get(i).report();
    PeerReport report = PeerReport.read(bytes);
    return report == null ? null : report.toException(firstRank + i, seats.size(), timeouts);
  }
}
