// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

/**
 * Rounds floats to half precision, to nearest even, for {@link OracleInputs}: on purpose not the
 * conversion of the folds, which the oracle's inputs are to prove.
 */
final class HalfRounding {
  private HalfRounding() {}

  /**
   * The f16 bits nearest to a value; every NaN becomes 7e00, beyond 65,504 and its half gap
   * infinity.
   */
  static short f16(float value) {
    int sign = Float.floatToRawIntBits(value) >>> 16 & 0x8000;
    float size = Math.abs(value);
    if (Float.isNaN(value)) {
      return 0x7e00;
    }
    if (size >= 65520.0f) {
      return (short) (sign | 0x7c00);
    }
    // In units of the gap between neighbours the nearest even whole number is the answer: rint
    // rounds exactly so.
    int exponent = Math.max(Math.getExponent(size), -14);
    long gaps = (long) Math.rint((double) size * powerOfTwo(10 - exponent));
    // Numbers 1024 .. 2047 are a normal's significand with its leading one; 2048 carries into the
    // next exponent.
    return (short) (sign | (int) (((exponent + 14L) << 10) + gaps));
  }

  /** The bf16 bits nearest to a value; every NaN becomes 7fc0. */
  static short bf16(float value) {
    if (Float.isNaN(value)) {
      return 0x7fc0;
    }
    int bits = Float.floatToRawIntBits(value);
    int odd = bits >>> 16 & 1;
    return (short) ((bits + 0x7fff + odd) >>> 16);
  }

  private static double powerOfTwo(int exponent) {
    return Double.longBitsToDouble((long) (1023 + exponent) << 52);
  }
}
