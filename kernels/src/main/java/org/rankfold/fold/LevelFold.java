// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * One call of {@link LaneFold} over arrays that all start at the same index, as the whole arenas of
 * ranks in one JVM do: folds from the left, where the arrays lie, with an output for the running
 * sum. Scaling, NaNs and further outputs follow while a piece is in the first cache.
 */
final class LevelFold<A> {
  private static final int PIECE_BLOCKS = 8;

  private final Lanes<A> lanes;
  private final LevelLoops<A> loops;
  private final ReduceContract contract;
  private final View[] addends;
  private final View[] outs;
  private final int sumAt;
  private final int offset;
  private final Object[] operands = new Object[LevelLoops.OPERANDS];

  private LevelFold(
      Lanes<A> lanes,
      LevelLoops<A> loops,
      ReduceContract contract,
      View[] addends,
      View[] outs,
      int sumAt) {
    this.lanes = lanes;
    this.loops = loops;
    this.contract = contract;
    this.addends = addends;
    this.outs = outs;
    this.sumAt = sumAt;
    this.offset = ((HeapView) outs[sumAt]).offset();
  }

  /** A fold of this kind, or null when the views or the contract are of another. */
  static <A> LevelFold<A> of(
      Lanes<A> lanes, LevelLoops<A> loops, ReduceContract contract, View[] addends, View[] outs) {
    boolean isSum = contract.op() == ReduceOp.SUM || contract.op() == ReduceOp.MEAN;
    boolean isLeft = contract.order() == FoldOrder.RANK_LEFT || contract.world() < 4;
    if (!isSum || !isLeft || contract.world() < 2 || !(addends[0] instanceof HeapView first)) {
      return null;
    }
    for (View addend : addends) {
      if (!startsAt(addend, first.offset())) {
        return null;
      }
    }
    for (int i = 0; i < outs.length; i++) {
      if (startsAt(outs[i], first.offset()) && canHoldSum(outs[i], addends)) {
        return new LevelFold<>(lanes, loops, contract, addends, outs, i);
      }
    }
    return null;
  }

  private static boolean startsAt(View view, int offset) {
    return view instanceof HeapView heap && heap.offset() == offset;
  }

  /** Whether no addend is lost when the sum of the first few is put there. */
  private static boolean canHoldSum(View out, View[] addends) {
    for (int r = firstStep(addends.length); r < addends.length; r++) {
      if (out.overlaps(addends[r])) {
        return false;
      }
    }
    return true;
  }

  private static int firstStep(int world) {
    return world <= LevelLoops.OPERANDS ? world : LevelLoops.OPERANDS - 1;
  }

  void run(int count) {
    A bench = lanes.scratch().bench();
    Object[] ports = new Object[outs.length];
    for (int i = 0; i < outs.length; i++) {
      ports[i] = lanes.port(outs[i]);
    }
    int stretch = lanes.blockElements() * BlockFold.STRETCH_BLOCKS;
    for (int from = 0; from < count; from += Math.min(stretch, count - from)) {
      int to = from + Math.min(stretch, count - from);
      fold(from, to, bench, ports);
      if (lanes.isAlarmed(bench)) {
        canonicalise(from, to, bench, ports);
      }
    }
  }

  private void fold(int from, int to, A bench, Object[] ports) {
    int world = addends.length;
    int done = 0;
    while (done < world) {
      int next = Math.min(world, done == 0 ? firstStep(world) : done + LevelLoops.OPERANDS - 1);
      int count = operands(done, next);
      int piece = lanes.blockElements() * PIECE_BLOCKS;
      for (int start = from; start < to; start += piece) {
        int end = Math.min(start + piece, to);
        loops.sum(array(outs[sumAt]), operands, count, offset + start, offset + end);
        if (next == world) {
          finish(start, end, bench, ports);
        }
      }
      done = next;
    }
  }

  /** The sum so far, unless there is none, and addends lo to hi - 1. */
  private int operands(int lo, int hi) {
    int count = 0;
    if (lo > 0) {
      operands[count++] = array(outs[sumAt]);
    }
    for (int r = lo; r < hi; r++) {
      operands[count++] = array(addends[r]);
    }
    return count;
  }

  private void finish(int from, int to, A bench, Object[] ports) {
    boolean isMean = contract.op() == ReduceOp.MEAN;
    int rest = isMean || ports.length > 1 ? from : watchOnly(from, to, bench, ports);
    for (int at = rest; at < to; at += lanes.blockElements()) {
      int n = Math.min(lanes.blockElements(), to - at);
      lanes.load(ports[sumAt], at, n, bench, 0);
      lanes.watch(bench, n);
      if (isMean) {
        lanes.scale(bench, n, contract.world());
      }
      store(at, n, bench, ports, isMean);
    }
  }

  /** Watches four blocks at a time, as long as there are; returns where it stopped. */
  private int watchOnly(int from, int to, A bench, Object[] ports) {
    int block = lanes.blockElements();
    int at = from;
    for (; at + 4 * block <= to; at += 4 * block) {
      for (int slot = 0; slot < 4; slot++) {
        lanes.load(ports[sumAt], at + slot * block, block, bench, slot);
      }
      lanes.watch4(bench);
    }
    return at;
  }

  private void store(int at, int n, A bench, Object[] ports, boolean alsoWhereTheSumIs) {
    for (int i = 0; i < ports.length; i++) {
      if (i != sumAt || alsoWhereTheSumIs) {
        lanes.store(bench, n, ports[i], at);
      }
    }
  }

  private void canonicalise(int from, int to, A bench, Object[] ports) {
    for (int at = from; at < to; at += lanes.blockElements()) {
      int n = Math.min(lanes.blockElements(), to - at);
      lanes.load(ports[sumAt], at, n, bench, 0);
      lanes.canonicalise(bench, n);
      store(at, n, bench, ports, true);
    }
  }

  /** The arrays behind heap views of one type are all of the loops' kind. */
  @SuppressWarnings("unchecked")
  private A array(View view) {
    return (A) ((HeapView) view).array();
  }
}
