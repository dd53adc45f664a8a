// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.View;

/**
 * One call of {@link LaneFold}: block after block, all addends of a block in order, then the block
 * to every output. A block is read whole before any of it is written, so an output may be an
 * addend. NaNs are made canonical afterwards, a stretch of blocks at a time, where there are any.
 */
final class BlockFold<A> {
  /** Blocks between two looks for NaNs: short enough to be in the second cache still. */
  private static final int WATCHED_BLOCKS = 64;

  private final Lanes<A> lanes;
  private final Scratch<A> scratch;
  private final A watch;
  private final ReduceContract contract;
  private final ReduceOp op;
  private final boolean tree;
  private final int world;
  private final Object[] addends;
  private final Object[] outs;

  /** The block at hand: its first element, its elements, its accumulators. */
  private int at;

  private int n;
  private int width;

  BlockFold(Lanes<A> lanes, ReduceContract contract, View[] addends, View[] outs) {
    this.lanes = lanes;
    this.scratch = lanes.scratch();
    this.watch = scratch.watch();
    this.contract = contract;
    this.op = contract.op() == ReduceOp.MEAN ? ReduceOp.SUM : contract.op();
    this.tree =
        contract.order() == FoldOrder.RANK_TREE && op == ReduceOp.SUM && lanes.isOrderSensitive();
    this.world = contract.world();
    this.addends = ports(addends);
    this.outs = ports(outs);
  }

  private Object[] ports(View[] views) {
    Object[] ports = new Object[views.length];
    for (int i = 0; i < views.length; i++) {
      ports[i] = lanes.port(views[i]);
    }
    return ports;
  }

  void run(long count) {
    long stretch = (long) lanes.blockElements() * WATCHED_BLOCKS;
    for (long from = 0; from < count; from += stretch) {
      long to = Math.min(count, from + stretch);
      foldStretch(from, to);
      if (lanes.isWatched() && lanes.isAlarmed(watch)) {
        canonicaliseStretch(from, to);
      }
    }
  }

  private void foldStretch(long from, long to) {
    A result = scratch.partial(0);
    for (long start = from; start < to; start += lanes.blockElements()) {
      enter(start, to);
      if (tree) {
        tree(0, world, 1, result);
      } else {
        left(result);
      }
      if (contract.op() == ReduceOp.MEAN) {
        lanes.scale(result, width, world);
      }
      store(result);
    }
  }

  private void canonicaliseStretch(long from, long to) {
    A result = scratch.partial(0);
    for (long start = from; start < to; start += lanes.blockElements()) {
      enter(start, to);
      lanes.load(outs[0], at, n, result);
      lanes.canonicalise(result, width);
      store(result);
    }
  }

  private void enter(long start, long end) {
    at = (int) start;
    n = (int) Math.min(lanes.blockElements(), end - start);
    width = lanes.width(n);
  }

  private void store(A result) {
    for (Object out : outs) {
      lanes.store(result, n, out, at);
    }
  }

  private void left(A result) {
    if (world == 1) {
      lanes.load(addends[0], at, n, result);
      lanes.watch(watch, result, width);
      return;
    }
    int widest = op == ReduceOp.SUM ? Scratch.OPERANDS : 2;
    int done = Math.min(world, widest);
    join(done, result, addend(0, 0), 0);
    while (done < world) {
      int more = Math.min(world - done, widest - 1);
      join(1 + more, result, result, done - 1);
      done += more;
    }
  }

  /** Joins {@code a} and the addends after number {@code last}, in order from the left. */
  private void join(int operands, A d, A a, int last) {
    A b = addend(last + 1, 1);
    switch (operands) {
      case 2 -> lanes.join2(op, d, watch, a, b, width);
      case 3 -> lanes.sum3(d, watch, a, b, addend(last + 2, 2), width);
      case 4 -> lanes.sum4(d, watch, a, b, addend(last + 2, 2), addend(last + 3, 3), width);
      default -> throw new IllegalArgumentException("operands=" + operands);
    }
  }

  /** d = the sum of addends lo to hi - 1, at least two; partials from {@code free} on are free. */
  private void tree(int lo, int hi, int free, A d) {
    int count = hi - lo;
    if (count == 1) {
      lanes.load(addends[lo], at, n, d);
    } else if (count == 4) {
      lanes.tree4(
          d, watch, addend(lo, 0), addend(lo + 1, 1), addend(lo + 2, 2), addend(lo + 3, 3), width);
    } else if (count < 4) {
      join(count, d, addend(lo, 0), lo);
    } else {
      int middle = lo + ScalarFold.largestPowerOfTwoBelow(count);
      A right = scratch.partial(free);
      tree(lo, middle, free, d);
      tree(middle, hi, free + 1, right);
      lanes.join2(op, d, watch, d, right, width);
    }
  }

  private A addend(int rank, int slot) {
    A block = scratch.addend(slot);
    lanes.load(addends[rank], at, n, block);
    return block;
  }
}
