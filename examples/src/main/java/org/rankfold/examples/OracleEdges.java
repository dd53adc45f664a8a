// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

/**
 * The 16 awkward values of {@link OracleInputs.Kind#EDGE} in each float type: +0, three times -0,
 * the smallest subnormals, the largest subnormal, the smallest normal, +-1, +- half the gap above
 * 1, the infinities, a signalling NaN, the largest finite.
 *
 * <p>The word's low four bits pick; a pick of the last four stands only where the next two bits are
 * 0 and is replaced by the value 12 places before otherwise, so that infinities and NaN stay rare.
 */
final class OracleEdges {
  private static final int[] F32 = {
    0x00000000, 0x80000000, 0x80000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
    0x3f800000, 0xbf800000, 0x33800000, 0xb3800000, 0x7f800000, 0xff800000, 0x7fa00001, 0x7f7fffff
  };
  private static final long[] F64 = {
    0x0000000000000000L, 0x8000000000000000L, 0x8000000000000000L, 0x8000000000000000L,
    0x0000000000000001L, 0x8000000000000001L, 0x000fffffffffffffL, 0x0010000000000000L,
    0x3ff0000000000000L, 0xbff0000000000000L, 0x3ca0000000000000L, 0xbca0000000000000L,
    0x7ff0000000000000L, 0xfff0000000000000L, 0x7ff4000000000001L, 0x7fefffffffffffffL
  };
  private static final char[] F16 = {
    0x0000, 0x8000, 0x8000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400,
    0x3c00, 0xbc00, 0x1000, 0x9000, 0x7c00, 0xfc00, 0x7d01, 0x7bff
  };
  private static final char[] BF16 = {
    0x0000, 0x8000, 0x8000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080,
    0x3f80, 0xbf80, 0x3b80, 0xbb80, 0x7f80, 0xff80, 0x7fa1, 0x7f7f
  };
  private static final int RARE = 12;

  private OracleEdges() {}

  static float f32(long word) {
    return Float.intBitsToFloat(F32[pick(word)]);
  }

  static double f64(long word) {
    return Double.longBitsToDouble(F64[pick(word)]);
  }

  static short f16(long word) {
    return (short) F16[pick(word)];
  }

  static short bf16(long word) {
    return (short) BF16[pick(word)];
  }

  private static int pick(long word) {
    int index = (int) (word & 15);
    boolean rareTurn = (word >>> 4 & 3) == 0;
    return index >= RARE && !rareTurn ? index - RARE : index;
  }
}
