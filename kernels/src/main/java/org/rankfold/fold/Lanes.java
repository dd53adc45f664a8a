// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.ReduceOp;
import org.rankfold.view.View;

/**
 * What {@link BlockFold} needs to know of an element type: how blocks come from views and go to
 * them, and short loops over blocks that HotSpot turns into vector instructions.
 *
 * <p>A bench has slots, each a block of accumulators. Loops work from the first slots into slot 0.
 * The slots lie in one array at places known to the compiler: HotSpot up to 25 makes no vectors of
 * a loop over arrays that start at different places, nor of one that has met heap and direct
 * memory; and blocks in arrays of their own, which the collector puts anywhere, slow each other
 * down when their addresses are equal in the last 12 bits (measured: to half). Bulk copies carry
 * elements between views, wherever they lie, and slots.
 *
 * @param <B> a bench
 */
abstract class Lanes<B> {
  /** Slots for operands: as many as meet in one loop. */
  static final int SLOTS = 5;

  private final ThreadLocal<Scratch<B>> scratch =
      ThreadLocal.withInitial(() -> new Scratch<>(this));

  /** The calling thread's bench and rows. */
  final Scratch<B> scratch() {
    return scratch.get();
  }

  /** Elements a block: 512 bytes of them, since larger blocks were slower. */
  abstract int blockElements();

  /** A bench with all slots zero. */
  abstract B newBench();

  /** A row for the partial sums of so many blocks. */
  abstract Object newRow(int blocks);

  /** What {@link #load} and {@link #store} want to be given for a view; made once a fold. */
  abstract Object port(View view);

  /** Reads n elements of a view, from element {@code from}, into a slot. */
  abstract void load(Object port, int from, int n, B bench, int slot);

  /** Writes the first n elements of slot 0 to a view, from element {@code at}. */
  abstract void store(B bench, int n, Object port, int at);

  /** Puts slot 0 away as a block of a row. */
  abstract void keep(B bench, Object row, int block);

  /** Takes a block of a row to a slot. */
  abstract void recall(Object row, int block, B bench, int slot);

  /** slot0 = slot0 op slot1; like the next four it also watches n elements of the result. */
  abstract void join2(ReduceOp op, B bench, int n);

  /** slot0 = (slot0 + slot1) + slot2. */
  abstract void sum3(B bench, int n);

  /** slot0 = ((slot0 + slot1) + slot2) + slot3. */
  abstract void sum4(B bench, int n);

  /** slot0 = (((slot0 + slot1) + slot2) + slot3) + slot4. */
  abstract void sum5(B bench, int n);

  /** slot0 = (slot0 + slot1) + (slot2 + slot3). */
  abstract void tree4(B bench, int n);

  /** Multiplies slot 0 by 1/world. */
  abstract void scale(B bench, int n, int world);

  /** Whether the order of additions shows in the bits. */
  abstract boolean isOrderSensitive();

  /** Watches slot 0: remembers whether it may have a NaN. */
  abstract void watch(B bench, int n);

  /** Watches slots 0 to 3, all of them whole blocks. */
  abstract void watch4(B bench);

  /**
   * Whether a NaN may have been watched since the last call; infinities that met look the same.
   * False where {@link #store} makes NaNs canonical.
   */
  abstract boolean isAlarmed(B bench);

  /** Makes every NaN of slot 0 the canonical one. */
  abstract void canonicalise(B bench, int n);
}
