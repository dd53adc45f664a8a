// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.InternalApi;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * A contract's fold in pieces: sums of some addends by one task, which another goes on with. Pieces
 * change no bit, for three reasons: what is between two pieces is held in the accumulator's type,
 * which for halves is f32; the mean's multiplication and the rounding of halves come once, at the
 * {@link #finish}; and a NaN made canonical on the way ends as the same NaN.
 *
 * <p>For one thread.
 */
@InternalApi
public final class PartialFold {
  private static final int BLOCK = 1024;

  private final ReduceContract contract;
  private final Fold fold;
  private final ReduceOp op;
  private final DType dtype;
  private final short[] halves;
  private final float[] floats;
  private float[][] wide = new float[0][];

  /**
   * The pieces of a contract's folds.
   *
   * @param contract what fixes the bits
   * @param fold what adds
   */
  public PartialFold(ReduceContract contract, Fold fold) {
    this.contract = contract;
    this.fold = fold;
    this.op = contract.op() == ReduceOp.MEAN ? ReduceOp.SUM : contract.op();
    this.dtype = dtype(contract.dtype());
    boolean isHalf = contract.dtype().isHalf();
    this.halves = isHalf ? new short[BLOCK] : null;
    this.floats = isHalf ? new float[BLOCK] : null;
  }

  /**
   * The type in which sums of some addends are held.
   *
   * @param elements the type of addends
   * @return f32 for halves, else the same
   */
  public static DType dtype(DType elements) {
    return elements.isHalf() ? DType.F32 : elements;
  }

  /**
   * The type in which this contract's sums are held.
   *
   * @return as {@link #dtype(DType)}
   */
  public DType dtype() {
    return dtype;
  }

  /**
   * Goes on from the left: {@code before}, then the addends, in order.
   *
   * @param beforeOrNull the sum of all lower ranks, or null when there are none
   * @param addends of the contract's type, ascending, at least one
   * @param sum where the sum goes; may be the same stretch as {@code before}, or as an addend where
   *     the types are equal
   */
  public void left(View beforeOrNull, View[] addends, View sum) {
    int from = beforeOrNull == null ? 0 : 1;
    View[] operands = new View[from + addends.length];
    if (beforeOrNull != null) {
      operands[0] = beforeOrNull;
    }
    widen(addends, operands, from);
    combine(FoldOrder.RANK_LEFT, operands, sum);
  }

  /**
   * Folds all addends of a subtree.
   *
   * @param addends of the contract's type, ascending, at least one
   * @param sum where the sum goes; may be the same stretch as an addend where the types are equal
   */
  public void subtree(View[] addends, View sum) {
    View[] operands = new View[addends.length];
    widen(addends, operands, 0);
    combine(FoldOrder.RANK_TREE, operands, sum);
  }

  /**
   * Joins two subtrees' sums.
   *
   * @param left the sum of the lower ranks
   * @param right the sum of the higher ones
   * @param sum where the sum goes; may be the same stretch as one of them
   */
  public void join(View left, View right, View sum) {
    combine(FoldOrder.RANK_TREE, new View[] {left, right}, sum);
  }

  private void combine(FoldOrder order, View[] operands, View sum) {
    fold.fold(new ReduceContract(dtype, op, order, operands.length), operands, new View[] {sum});
  }

  /** Halves are widened to memory that is kept for the next piece. */
  private void widen(View[] addends, View[] operands, int from) {
    if (halves == null) {
      System.arraycopy(addends, 0, operands, from, addends.length);
      return;
    }
    if (wide.length < addends.length) {
      wide = java.util.Arrays.copyOf(wide, addends.length);
    }
    for (int r = 0; r < addends.length; r++) {
      int count = Math.toIntExact(addends[r].count());
      if (wide[r] == null || wide[r].length < count) {
        wide[r] = new float[count];
      }
      widen(addends[r], wide[r]);
      operands[from + r] = View.of(wide[r], 0, count);
    }
  }

  private void widen(View addend, float[] to) {
    boolean isBrain = contract.dtype() == DType.BF16;
    for (long at = 0; at < addend.count(); at += BLOCK) {
      int n = (int) Math.min(BLOCK, addend.count() - at);
      addend.slice(at, n).copyTo(View.of(halves, contract.dtype(), 0, n));
      for (int i = 0; i < n; i++) {
        to[(int) at + i] = isBrain ? Halves.bf16ToF32(halves[i]) : Halves.f16ToF32(halves[i]);
      }
    }
  }

  /**
   * Makes the sum of all addends the result: the mean's multiplication, the rounding of halves.
   *
   * @param sum the sum of all ranks
   * @param out where the result goes, of the contract's type; may be the same stretch as the sum
   */
  public void finish(View sum, View out) {
    if (halves != null) {
      round(sum, out);
      return;
    }
    if (contract.op() == ReduceOp.MEAN) {
      scale(sum);
    }
    if (!sum.isSameStretchAs(out)) {
      sum.copyTo(out);
    }
  }

  private void round(View sum, View out) {
    boolean isBrain = contract.dtype() == DType.BF16;
    float factor = contract.op() == ReduceOp.MEAN ? 1.0f / contract.world() : 1.0f;
    for (long at = 0; at < out.count(); at += BLOCK) {
      int n = (int) Math.min(BLOCK, out.count() - at);
      sum.slice(at, n).copyTo(View.of(floats, 0, n));
      for (int i = 0; i < n; i++) {
        float value = contract.op() == ReduceOp.MEAN ? floats[i] * factor : floats[i];
        halves[i] = isBrain ? Halves.f32ToBf16(value) : Halves.f32ToF16(value);
      }
      View.of(halves, contract.dtype(), 0, n).copyTo(out.slice(at, n));
    }
  }

  /** Multiplies in place; a NaN stays the canonical one that the fold made. */
  private void scale(View sum) {
    if (dtype == DType.F64) {
      scaleDoubles(sum);
    } else {
      scaleFloats(sum);
    }
  }

  private void scaleFloats(View sum) {
    float factor = 1.0f / contract.world();
    float[] block = new float[BLOCK];
    for (long at = 0; at < sum.count(); at += BLOCK) {
      int n = (int) Math.min(BLOCK, sum.count() - at);
      View stretch = sum.slice(at, n);
      HeapView values = (HeapView) View.of(block, 0, n);
      stretch.copyTo(values);
      for (int i = 0; i < n; i++) {
        float value = block[i] * factor;
        block[i] = Float.isNaN(value) ? Float.NaN : value;
      }
      values.copyTo(stretch);
    }
  }

  private void scaleDoubles(View sum) {
    double factor = 1.0 / contract.world();
    double[] block = new double[BLOCK];
    for (long at = 0; at < sum.count(); at += BLOCK) {
      int n = (int) Math.min(BLOCK, sum.count() - at);
      View stretch = sum.slice(at, n);
      HeapView values = (HeapView) View.of(block, 0, n);
      stretch.copyTo(values);
      for (int i = 0; i < n; i++) {
        double value = block[i] * factor;
        block[i] = Double.isNaN(value) ? Double.NaN : value;
      }
      values.copyTo(stretch);
    }
  }
}
