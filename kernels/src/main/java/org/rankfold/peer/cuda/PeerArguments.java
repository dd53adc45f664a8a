// SPDX-License-Identifier: Apache-2.0
package org.rankfold.peer.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.fold.cuda.FoldCode;

/** One launch's arguments, as {@code struct Peers} of peer.cu lays them out. */
final class PeerArguments {
  static final int MAX_RANKS = 8;

  static final int VECTOR_BYTES = 16;

  private static final int BOUNDS_AT = 104;
  private static final int FIRSTS_AT = 176;
  private static final int END_TIMEOUT_AT = 212;
  private static final int WORDS_AT = 216;
  private static final int STAGING_AT = 280;
  private static final int REPORTS_AT = 344;
  private static final int OUTS_AT = 408;
  private static final int ADDENDS_AT = 472;

  private PeerArguments() {}

  /**
   * How blocks share the work.
   *
   * @param path ONE_SHOT or MAPPED
   * @param blocks of one rank
   * @param chunk elements of a block of a one-shot call, else 0
   * @param hash of all that must be alike on all ranks
   */
  record Split(PeerPath path, int blocks, long chunk, int hash) {}

  static byte[] of(
      PeerCall call,
      Split split,
      PeerOperands operands,
      List<PeerSeat> seats,
      long[] reports,
      int firstRank,
      PeerTimeouts timeouts,
      int capacity,
      PeerFault fault) {
    ByteBuffer args =
        ByteBuffer.allocate(ADDENDS_AT + Long.BYTES * capacity).order(ByteOrder.nativeOrder());
    int ranks = seats.size();
    int world = call.contract().world();
    long setBytes = seats.get(0).setBytes();
    args.putLong(timeouts.startNs())
        .putLong(call.count())
        .putDouble(FoldCode.scale(call.contract()))
        .putLong(fault.seed())
        .putLong(split.chunk())
        .putLong(slotBytes(setBytes, world))
        .putLong(setBytes)
        .putInt(split.hash())
        .putInt(ranks)
        .putInt(firstRank)
        .putInt(world)
        .putInt(access(call, split, operands, ranks))
        .putInt(call.kind().number())
        .putInt(call.root())
        .putInt(call.dtype().bytes())
        .putInt(fault.kind().number())
        .putInt(fault.rank())
        .putInt(fault.peer())
        .putInt(fault.delayNs());
    args.putInt(END_TIMEOUT_AT, timeouts.endMillis());
    for (int r = 0; r <= ranks; r++) {
      args.putLong(BOUNDS_AT + Long.BYTES * r, bound(call, ranks, r));
      args.putInt(FIRSTS_AT + Integer.BYTES * r, firstLogical(world, ranks, r));
    }
    for (int r = 0; r < ranks; r++) {
      args.putLong(WORDS_AT + Long.BYTES * r, seats.get(r).wordsAddress());
      args.putLong(STAGING_AT + Long.BYTES * r, seats.get(r).stagingAddress());
      args.putLong(REPORTS_AT + Long.BYTES * r, reports[r]);
      args.putLong(OUTS_AT + Long.BYTES * r, operands.outs()[r]);
    }
    for (int l = 0; l < world; l++) {
      args.putLong(ADDENDS_AT + Long.BYTES * l, operands.addends()[l]);
    }
    return args.array();
  }

  /** The first logical rank of a rank: blocks differ by at most one, larger ones first. */
  static int firstLogical(int world, int ranks, int rank) {
    return world / ranks * rank + Math.min(rank, world % ranks);
  }

  /** The first element that a rank folds or forwards. */
  static long bound(PeerCall call, int ranks, int rank) {
    if (call.kind() == PeerKind.REDUCE_SCATTER) {
      int world = call.contract().world();
      return call.count() / world * firstLogical(world, ranks, rank);
    }
    return Math.min(call.count(), FoldCode.shardElements(call.count(), ranks, call.dtype()) * rank);
  }

  /** Room for one addend in a staging set. */
  static long slotBytes(long setBytes, int world) {
    return setBytes / world / 256 * 256;
  }

  private static int access(PeerCall call, Split split, PeerOperands operands, int ranks) {
    DType dtype = call.dtype();
    if (call.kind().isMovement()) {
      return 0;
    }
    int world = call.contract().world();
    boolean isOneShot = split.path() == PeerPath.ONE_SHOT;
    // Slots start at multiples of 256.
    long[] addresses = new long[(isOneShot ? 1 : world) + ranks];
    int n = isOneShot ? 1 : world;
    System.arraycopy(isOneShot ? new long[1] : operands.addends(), 0, addresses, 0, n);
    for (int r = 0; r < ranks; r++) {
      long out = operands.outs()[r];
      if (out == 0) {
        addresses[n + r] = addresses[0];
      } else if (call.kind() == PeerKind.REDUCE_SCATTER) {
        addresses[n + r] = out - bound(call, ranks, r) * dtype.bytes();
      } else {
        addresses[n + r] = out;
      }
    }
    return FoldCode.access(dtype, addresses);
  }
}
