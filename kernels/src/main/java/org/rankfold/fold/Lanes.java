// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.ReduceOp;
import org.rankfold.view.View;

/**
 * What {@link BlockFold} needs to know of an element type: how blocks come from views and go to
 * them, and short loops over blocks that HotSpot turns into vector instructions.
 *
 * <p>Every loop is a method of its own, sees arrays only, and counts all of them from 0: HotSpot up
 * to 25 makes no vectors of a loop whose arrays start at different places, nor of one that has met
 * two kinds of memory. Bulk copies carry elements between views, in the heap or not, and blocks.
 *
 * @param <A> an array of the accumulator's type
 */
abstract class Lanes<A> {
  private final ThreadLocal<Scratch<A>> scratch =
      ThreadLocal.withInitial(() -> new Scratch<>(this));

  /** The calling thread's blocks. */
  final Scratch<A> scratch() {
    return scratch.get();
  }

  /** Elements a block. */
  abstract int blockElements();

  /** An array of accumulators. */
  abstract A newArray(int length);

  /** How many accumulators n elements take. */
  int width(int n) {
    return n;
  }

  /** What {@link #load} and {@link #store} want to be given for a view; made once a fold. */
  abstract Object port(View view);

  /** Reads n elements of a view, from element {@code from}, into a block. */
  abstract void load(Object port, int from, int n, A block);

  /** Writes the first n elements of a block to a view, from element {@code at}. */
  abstract void store(A block, int n, Object port, int at);

  /** d = a op b; like the next three it also watches d, see {@link #watch}. */
  abstract void join2(ReduceOp op, A d, A w, A a, A b, int n);

  /** d = (a + b) + c. */
  abstract void sum3(A d, A w, A a, A b, A c, int n);

  /** d = ((a + b) + c) + e. */
  abstract void sum4(A d, A w, A a, A b, A c, A e, int n);

  /** d = (a + b) + (c + e). */
  abstract void tree4(A d, A w, A a, A b, A c, A e, int n);

  /** Multiplies by 1/world. */
  abstract void scale(A d, int n, int world);

  /** Whether the order of additions shows in the bits. */
  abstract boolean isOrderSensitive();

  /** Whether results need {@link #canonicalise}; not when {@link #store} makes NaNs canonical. */
  abstract boolean isWatched();

  /** w = w + d: keeps a NaN if d has one. */
  abstract void watch(A w, A d, int n);

  /** Whether some watched block may have had a NaN; infinities that met look the same. Clears w. */
  abstract boolean isAlarmed(A w);

  /** Makes every NaN the canonical one. */
  abstract void canonicalise(A d, int n);
}
