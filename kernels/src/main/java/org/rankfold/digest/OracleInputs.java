// SPDX-License-Identifier: Apache-2.0
package org.rankfold.digest;

import org.rankfold.contract.DType;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;
import org.rankfold.fold.Halves;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

/**
 * Inputs that any language can make: every element follows from (kind, seed, logical rank, element)
 * alone, through the splitmix64 finaliser. They are the inputs of the golden table.
 */
public final class OracleInputs {
  private static final int[] EDGE_F32 = {
    0x00000000, 0x80000000, 0x80000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
    0x3f800000, 0xbf800000, 0x33800000, 0xb3800000, 0x7f800000, 0xff800000, 0x7fa00001, 0x7f7fffff
  };
  private static final long[] EDGE_F64 = {
    0L,
    0x8000000000000000L,
    0x8000000000000000L,
    0x8000000000000000L,
    1L,
    0x8000000000000001L,
    0x000fffffffffffffL,
    0x0010000000000000L,
    0x3ff0000000000000L,
    0xbff0000000000000L,
    0x3ca0000000000000L,
    0xbca0000000000000L,
    0x7ff0000000000000L,
    0xfff0000000000000L,
    0x7ff4000000000001L,
    0x7fefffffffffffffL
  };
  private static final int[] EDGE_F16 = {
    0x0000, 0x8000, 0x8000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400,
    0x3c00, 0xbc00, 0x1000, 0x9000, 0x7c00, 0xfc00, 0x7d01, 0x7bff
  };
  private static final int[] EDGE_BF16 = {
    0x0000, 0x8000, 0x8000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080,
    0x3f80, 0xbf80, 0x3b80, 0xbb80, 0x7f80, 0xff80, 0x7fa1, 0x7f7f
  };

  private OracleInputs() {}

  /**
   * Writes elements {@code first}, {@code first + 1}, ... of a logical rank's input to a view.
   *
   * @param view where to; its count says how many, its type which
   * @param kind the kind of input; integers have {@link InputKind#BITS} only
   * @param seed any 64 bits
   * @param rank the logical rank, from 0
   * @param first the number of the view's first element in the whole input
   * @throws CollectiveException INVALID_ARGUMENT for a kind that the type does not have
   */
  public static void fill(View view, InputKind kind, long seed, int rank, long first) {
    DType dtype = view.dtype();
    if (!dtype.isFloating() && kind != InputKind.BITS) {
      throw CollectiveException.usage(
          ErrorCode.INVALID_ARGUMENT,
          "kind=%s is not defined for dtype=%s: integers are made from bits",
          kind.label(),
          dtype.label());
    }
    long stream = mix(seed ^ mix(rank + 1L));
    for (long i = 0; i < view.count(); i++) {
      long word = mix(stream + (first + i + 1) * 0x9E3779B97F4A7C15L);
      RawBits.write(view, i, bits(dtype, kind, word, rank));
    }
  }

  private static long mix(long word) {
    long z = (word ^ (word >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  private static long bits(DType dtype, InputKind kind, long word, int rank) {
    if (kind == InputKind.BITS) {
      return word;
    }
    if (kind == InputKind.EDGE) {
      int pick = edge(word);
      return switch (dtype) {
        case F32 -> EDGE_F32[pick];
        case F64 -> EDGE_F64[pick];
        case F16 -> EDGE_F16[pick];
        case BF16 -> EDGE_BF16[pick];
        case I32, I64 -> throw new IllegalArgumentException("dtype=" + dtype);
      };
    }
    return switch (dtype) {
      case F32 -> Float.floatToRawIntBits(f32(kind, word, rank));
      case F64 -> Double.doubleToRawLongBits(f64(kind, word, rank));
      case F16 -> Halves.f32ToF16(f32(kind, word, rank));
      case BF16 -> Halves.f32ToBf16(f32(kind, word, rank));
      case I32, I64 -> throw new IllegalArgumentException("dtype=" + dtype);
    };
  }

  /** Infinities and NaN are rarer than the rest: only every fourth pick may be one. */
  private static int edge(long word) {
    int pick = (int) (word & 15);
    return pick >= 12 && (word >>> 4 & 3) != 0 ? pick - 12 : pick;
  }

  private static float f32(InputKind kind, long word, int rank) {
    return switch (kind) {
      case SPREAD -> {
        int sign = (int) (word & 1) << 31;
        int exponent = 127 - 20 + (int) ((word >>> 1) % 41);
        yield Float.intBitsToFloat(sign | exponent << 23 | (int) (word >>> 41));
      }
      case CANCEL -> rank % 3 == 1 ? uniform32(word) : (rank % 3 == 0 ? 1 : -1) * large(word);
      default -> uniform32(word);
    };
  }

  private static double f64(InputKind kind, long word, int rank) {
    return switch (kind) {
      case SPREAD -> {
        long sign = (word & 1) << 63;
        long exponent = 1023 - 40 + (word >>> 1) % 81;
        yield Double.longBitsToDouble(sign | exponent << 52 | mix(word) >>> 12);
      }
      case CANCEL -> rank % 3 == 1 ? uniform64(word) : (rank % 3 == 0 ? 1 : -1) * large(word);
      default -> uniform64(word);
    };
  }

  private static float uniform32(long word) {
    return ((float) (word >>> 40) * 0x1p-24f - 0.5f) * 2.0f;
  }

  private static double uniform64(long word) {
    return ((double) (word >>> 11) * 0x1p-53 - 0.5) * 2.0;
  }

  /** 1.5 * 2^e with e in 8..15. */
  private static float large(long word) {
    return 1.5f * (1 << (8 + (int) ((word >>> 3) % 8)));
  }
}
