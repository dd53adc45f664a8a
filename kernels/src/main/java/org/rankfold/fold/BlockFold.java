// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * One call of {@link LaneFold}: block after block, all addends of a block in order, then the block
 * to every output. A block is read whole before any of it is written, so an output may be an
 * addend.
 */
final class BlockFold<A> {
  private final Lanes<A> lanes;
  private final Scratch<A> scratch;
  private final ReduceContract contract;
  private final ReduceOp op;
  private final boolean tree;
  private final View[] addends;
  private final View[] outs;
  private final Object[] addendPorts;
  private final Object[] outPorts;

  /** The operands of the loop about to run: arrays and where their blocks start. */
  private final Object[] operand = new Object[Scratch.OPERANDS];

  private final int[] offset = new int[Scratch.OPERANDS];

  /** The block at hand: its first element, its elements, its accumulators. */
  private int at;

  private int n;
  private int width;

  BlockFold(Lanes<A> lanes, ReduceContract contract, View[] addends, View[] outs) {
    this.lanes = lanes;
    this.scratch = lanes.scratch();
    this.contract = contract;
    this.op = contract.op() == ReduceOp.MEAN ? ReduceOp.SUM : contract.op();
    this.tree =
        contract.order() == FoldOrder.RANK_TREE && op == ReduceOp.SUM && lanes.isOrderSensitive();
    this.addends = addends;
    this.outs = outs;
    this.addendPorts = ports(addends);
    this.outPorts = ports(outs);
  }

  private Object[] ports(View[] views) {
    Object[] ports = new Object[views.length];
    for (int i = 0; i < views.length; i++) {
      ports[i] = lanes.port(views[i]);
    }
    return ports;
  }

  void run() {
    long count = addends[0].count();
    int step = lanes.blockElements();
    for (long from = 0; from < count; from += step) {
      at = (int) from;
      n = (int) Math.min(step, count - from);
      width = lanes.width(n);
      block();
    }
  }

  private void block() {
    A result = scratch.partial(0);
    int start = 0;
    boolean inPlace = lanes.isInPlace(outs[0]);
    if (inPlace) {
      HeapView heap = (HeapView) outs[0];
      result = cast(heap.array());
      start = heap.offset() + at;
    }
    if (tree) {
      tree(0, addends.length, 1, result, start);
    } else {
      left(result, start);
    }
    if (contract.op() == ReduceOp.MEAN) {
      lanes.scale(result, start, width, contract.world());
    }
    lanes.canonicalise(result, start, width, scratch.operand(0));
    for (int i = inPlace ? 1 : 0; i < outs.length; i++) {
      lanes.store(result, start, n, outPorts[i], at);
    }
  }

  private void left(A result, int start) {
    int widest = op == ReduceOp.SUM ? Scratch.OPERANDS : 2;
    int done = Math.min(addends.length, widest);
    for (int r = 0; r < done; r++) {
      addend(r, r);
    }
    join(done, done == addends.length, result, start);
    while (done < addends.length) {
      int more = Math.min(addends.length - done, widest - 1);
      operand[0] = scratch.partial(0);
      offset[0] = 0;
      for (int i = 0; i < more; i++) {
        addend(done + i, 1 + i);
      }
      done += more;
      join(1 + more, done == addends.length, result, start);
    }
  }

  private void join(int operands, boolean isLast, A result, int start) {
    if (isLast) {
      join(operands, result, start);
    } else {
      join(operands, scratch.partial(0), 0);
    }
  }

  /** Writes the fold of addends lo to hi - 1; partials from {@code depth} on are free. */
  private void tree(int lo, int hi, int depth, A d, int o) {
    int count = hi - lo;
    if (count <= Scratch.OPERANDS) {
      for (int i = 0; i < count; i++) {
        addend(lo + i, i);
      }
      if (count == Scratch.OPERANDS) {
        lanes.tree4(
            d, o, array(0), offset[0], array(1), offset[1], array(2), offset[2], array(3),
            offset[3], width);
      } else {
        join(count, d, o);
      }
      return;
    }
    int middle = lo + ScalarFold.largestPowerOfTwoBelow(count);
    A leftPart = scratch.partial(depth);
    tree(lo, middle, depth + 1, leftPart, 0);
    if (middle + 1 == hi) {
      addend(middle, 1);
    } else {
      A rightPart = scratch.partial(depth + 1);
      tree(middle, hi, depth + 2, rightPart, 0);
      operand[1] = rightPart;
      offset[1] = 0;
    }
    operand[0] = leftPart;
    offset[0] = 0;
    join(2, d, o);
  }

  /** Joins the first operands, from the left. */
  private void join(int operands, A d, int o) {
    A a = array(0);
    int ao = offset[0];
    switch (operands) {
      case 1 -> System.arraycopy(a, ao, d, o, width);
      case 2 -> lanes.join2(op, d, o, a, ao, array(1), offset[1], width);
      case 3 -> lanes.sum3(d, o, a, ao, array(1), offset[1], array(2), offset[2], width);
      case 4 ->
          lanes.sum4(
              d, o, a, ao, array(1), offset[1], array(2), offset[2], array(3), offset[3], width);
      default -> throw new IllegalArgumentException("operands=" + operands);
    }
  }

  /** Makes addend r the operand in a slot, where it lies or in the slot's block. */
  private void addend(int r, int slot) {
    if (lanes.isInPlace(addends[r])) {
      HeapView heap = (HeapView) addends[r];
      operand[slot] = heap.array();
      offset[slot] = heap.offset() + at;
    } else {
      A block = scratch.operand(slot);
      lanes.load(addendPorts[r], at, n, block);
      operand[slot] = block;
      offset[slot] = 0;
    }
  }

  private A array(int slot) {
    return cast(operand[slot]);
  }

  /** The arrays behind views of one type are all of the lanes' kind. */
  @SuppressWarnings("unchecked")
  private A cast(Object array) {
    return (A) array;
  }
}
