// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.InternalApi;

/**
 * The conversions of 16-bit floating-point numbers, one at a time: widening is exact, narrowing
 * rounds once, to nearest even, overflows to infinity and makes every NaN the canonical one.
 */
@InternalApi
public final class Halves {
  /** The canonical NaN of f16. */
  public static final short F16_NAN = 0x7e00;

  /** The canonical NaN of bf16. */
  public static final short BF16_NAN = 0x7fc0;

  private static final int INFINITY = 0x7f800000;

  /** The least magnitude that rounds to f16 infinity: halfway between 65504 and 65536. */
  private static final int F16_OVERFLOW = 0x477ff000;

  /** The least normal magnitude of f16, 2^-14. */
  private static final int F16_MIN_NORMAL = 0x38800000;

  private Halves() {}

  /**
   * Widens an f16.
   *
   * @param half its bits
   * @return the same value; a NaN becomes some NaN
   */
  public static float f16ToF32(short half) {
    int sign = (half & 0x8000) << 16;
    int exponent = (half >> 10) & 31;
    int fraction = half & 1023;
    if (exponent == 31) {
      return Float.intBitsToFloat(sign | INFINITY | fraction << 13);
    }
    if (exponent == 0) {
      float magnitude = fraction * 0x1p-24f;
      return sign == 0 ? magnitude : -magnitude;
    }
    return Float.intBitsToFloat(sign | (exponent + 112) << 23 | fraction << 13);
  }

  /**
   * Narrows to f16.
   *
   * @param value any value
   * @return the bits of the nearest f16, ties to even
   */
  public static short f32ToF16(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = (bits >> 16) & 0x8000;
    int magnitude = bits & 0x7fffffff;
    if (magnitude > INFINITY) {
      return F16_NAN;
    }
    if (magnitude >= F16_OVERFLOW) {
      return (short) (sign | 0x7c00);
    }
    if (magnitude < F16_MIN_NORMAL) {
      // In units of the least subnormal, 2^-24: an exact product, so the rest decides exactly.
      float units = Float.intBitsToFloat(magnitude) * 0x1p24f;
      int whole = (int) units;
      float rest = units - whole;
      boolean up = rest > 0.5f || (rest == 0.5f && (whole & 1) == 1);
      return (short) (sign | (up ? whole + 1 : whole));
    }
    int whole = (magnitude - 0x38000000) >> 13;
    int rest = magnitude & 0x1fff;
    boolean up = rest > 0x1000 || (rest == 0x1000 && (whole & 1) == 1);
    return (short) (sign | (up ? whole + 1 : whole));
  }

  /**
   * Widens a bf16.
   *
   * @param half its bits
   * @return the same value; a NaN becomes some NaN
   */
  public static float bf16ToF32(short half) {
    return Float.intBitsToFloat(half << 16);
  }

  /**
   * Narrows to bf16.
   *
   * @param value any value
   * @return the bits of the nearest bf16, ties to even
   */
  public static short f32ToBf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if ((bits & 0x7fffffff) > INFINITY) {
      return BF16_NAN;
    }
    return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
  }
}
