// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.ReduceOp;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * What {@link BlockFold} needs to know of an element type: short loops over blocks of accumulators
 * {@code A} (float[], double[], int[], long[]) that HotSpot turns into vector instructions. Every
 * loop is a method of its own and sees arrays only, whatever memory the views lie in, so no loop's
 * profile is spoilt by another kind of memory.
 *
 * @param <A> an array of the accumulator's type
 */
abstract class Lanes<A> {
  /** The bytes of a block: its accumulators and the blocks in flight stay in the first cache. */
  static final int BLOCK_BYTES = 4096;

  private final ThreadLocal<Scratch<A>> scratch =
      ThreadLocal.withInitial(() -> new Scratch<>(this));

  /** The calling thread's blocks. */
  final Scratch<A> scratch() {
    return scratch.get();
  }

  /** Elements a block. */
  abstract int blockElements();

  /** A block of accumulators. */
  abstract A newBlock();

  /** How many accumulators n elements take. */
  int width(int n) {
    return n;
  }

  /** Whether the array behind a view can be folded from and into where it lies. */
  boolean isInPlace(View view) {
    return view instanceof HeapView;
  }

  /** What {@link #load} and {@link #store} want to be given for a view; made once a fold. */
  abstract Object port(View view);

  /** Reads elements of a view that is not in place into the start of a block. */
  abstract void load(Object port, int from, int n, A block);

  /** Writes elements of an array to a view. */
  abstract void store(A from, int offset, int n, Object port, int at);

  /** d = a op b. */
  abstract void join2(ReduceOp op, A d, int o, A a, int ao, A b, int bo, int n);

  /** d = (a + b) + c. */
  abstract void sum3(A d, int o, A a, int ao, A b, int bo, A c, int co, int n);

  /** d = ((a + b) + c) + e. */
  abstract void sum4(A d, int o, A a, int ao, A b, int bo, A c, int co, A e, int eo, int n);

  /** d = (a + b) + (c + e). */
  abstract void tree4(A d, int o, A a, int ao, A b, int bo, A c, int co, A e, int eo, int n);

  /** Multiplies by 1/world. */
  abstract void scale(A d, int o, int n, int world);

  /** Makes every NaN the canonical one, unless {@link #store} does; {@code spare} is clobbered. */
  abstract void canonicalise(A d, int o, int n, A spare);

  /** Whether the order of additions shows in the bits. */
  abstract boolean isOrderSensitive();
}
