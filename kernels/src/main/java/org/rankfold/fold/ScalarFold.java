// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

/**
 * The contract as the obvious loop, an element at a time: what every other fold is compared with.
 * Slow, and meant to be believed by reading it.
 */
public final class ScalarFold implements Fold {
  /** A fold without state. */
  public ScalarFold() {}

  @Override
  public void fold(ReduceContract contract, View[] addends, View[] outs) {
    FoldArguments.checkOnHost(contract, addends, outs);
    SubnormalGuard.check();
    long[] element = new long[addends.length];
    long count = addends[0].count();
    for (long i = 0; i < count; i++) {
      for (int r = 0; r < addends.length; r++) {
        element[r] = RawBits.read(addends[r], i);
      }
      long result = element(contract, element);
      for (View out : outs) {
        RawBits.write(out, i, result);
      }
    }
  }

  private static long element(ReduceContract contract, long[] addends) {
    Combination join = combination(contract.dtype(), contract.op());
    long[] accumulators = new long[addends.length];
    for (int r = 0; r < addends.length; r++) {
      accumulators[r] = widen(contract.dtype(), addends[r]);
    }
    long sum =
        contract.order() == FoldOrder.RANK_LEFT
            ? left(join, accumulators)
            : tree(join, accumulators, 0, accumulators.length);
    if (contract.op() == ReduceOp.MEAN) {
      sum = scale(contract.dtype(), sum, contract.world());
    }
    return narrow(contract.dtype(), sum);
  }

  private static long left(Combination join, long[] x) {
    long sum = x[0];
    for (int r = 1; r < x.length; r++) {
      sum = join.apply(sum, x[r]);
    }
    return sum;
  }

  private static long tree(Combination join, long[] x, int lo, int hi) {
    if (lo + 1 == hi) {
      return x[lo];
    }
    int middle = lo + largestPowerOfTwoBelow(hi - lo);
    return join.apply(tree(join, x, lo, middle), tree(join, x, middle, hi));
  }

  static int largestPowerOfTwoBelow(int count) {
    return Integer.highestOneBit(count - 1);
  }

  /** Bits of an element to bits of the accumulator's type. */
  private static long widen(DType dtype, long bits) {
    return switch (dtype) {
      case F16 -> bits(Halves.f16ToF32((short) bits));
      case BF16 -> bits(Halves.bf16ToF32((short) bits));
      default -> bits;
    };
  }

  /** Bits of the accumulator's type to bits of an element, every NaN the canonical one. */
  private static long narrow(DType dtype, long bits) {
    return switch (dtype) {
      case F16 -> Halves.f32ToF16(f32(bits));
      case BF16 -> Halves.f32ToBf16(f32(bits));
      case F32 -> Float.isNaN(f32(bits)) ? 0x7fc00000L : bits;
      case F64 -> Double.isNaN(f64(bits)) ? 0x7ff8000000000000L : bits;
      case I32, I64 -> bits;
    };
  }

  private static long scale(DType dtype, long sum, int world) {
    return dtype == DType.F64 ? bits(f64(sum) * (1.0 / world)) : bits(f32(sum) * (1.0f / world));
  }

  private static Combination combination(DType dtype, ReduceOp op) {
    return switch (dtype) {
      case F32, F16, BF16 ->
          switch (op) {
            case SUM, MEAN -> (a, b) -> bits(f32(a) + f32(b));
            case MIN -> (a, b) -> bits(Math.min(f32(a), f32(b)));
            case MAX -> (a, b) -> bits(Math.max(f32(a), f32(b)));
          };
      case F64 ->
          switch (op) {
            case SUM, MEAN -> (a, b) -> bits(f64(a) + f64(b));
            case MIN -> (a, b) -> bits(Math.min(f64(a), f64(b)));
            case MAX -> (a, b) -> bits(Math.max(f64(a), f64(b)));
          };
      case I32 ->
          switch (op) {
            case SUM, MEAN -> (a, b) -> (int) a + (int) b;
            case MIN -> (a, b) -> Math.min((int) a, (int) b);
            case MAX -> (a, b) -> Math.max((int) a, (int) b);
          };
      case I64 ->
          switch (op) {
            case SUM, MEAN -> (a, b) -> a + b;
            case MIN -> Math::min;
            case MAX -> Math::max;
          };
    };
  }

  private static float f32(long bits) {
    return Float.intBitsToFloat((int) bits);
  }

  private static double f64(long bits) {
    return Double.longBitsToDouble(bits);
  }

  private static long bits(float value) {
    return Float.floatToRawIntBits(value);
  }

  private static long bits(double value) {
    return Double.doubleToRawLongBits(value);
  }

  /** Two accumulators, as bits, become one. */
  @FunctionalInterface
  private interface Combination {
    long apply(long a, long b);
  }
}
