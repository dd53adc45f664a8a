// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.ShortBuffer;

/**
 * Halves by plain loops that HotSpot 17 turns into vector instructions: int to int and float to
 * float only, without a branch. Where bits change their type, a block is copied through a small
 * buffer of bytes, since {@code Float.intBitsToFloat} is not made a vector there.
 */
final class PlainHalfLoops implements HalfLoops {
  private static final int INFINITY = 0x7f800000;

  private final boolean brain;
  private final ThreadLocal<Stage> stages = ThreadLocal.withInitial(Stage::new);

  private PlainHalfLoops(boolean brain) {
    this.brain = brain;
  }

  static HalfLoops f16() {
    return new PlainHalfLoops(false);
  }

  static HalfLoops bf16() {
    return new PlainHalfLoops(true);
  }

  /**
   * A thread's bits on the way from one type to another. The ints are the pairs of halves, the bits
   * of a wide slot, and those of another: one array, so that HotSpot knows how they lie.
   */
  private static final class Stage {
    final ByteBuffer bytes =
        ByteBuffer.allocateDirect(BLOCK * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    final ShortBuffer shorts = bytes.asShortBuffer();
    final IntBuffer ints = bytes.asIntBuffer();
    final FloatBuffer floats = bytes.asFloatBuffer();
    final int[] bits = new int[ODD + 2 * BLOCK];
    final float[] values = new float[BLOCK];
  }

  private static final int BITS = ODD;
  private static final int MORE = ODD + BLOCK;

  @Override
  public void widen(short[] raw, float[] wide, int slot) {
    Stage stage = stages.get();
    stage.shorts.put(0, raw, 0, BLOCK);
    stage.ints.get(0, stage.bits, 0, ODD);
    if (brain) {
      brainBits(stage.bits);
      stage.ints.put(0, stage.bits, BITS, BLOCK);
      stage.floats.get(0, wide, slot * BLOCK, BLOCK);
    } else {
      scaledEvens(stage.bits);
      scaledOdds(stage.bits);
      stage.ints.put(0, stage.bits, BITS, BLOCK);
      stage.floats.get(0, stage.values, 0, BLOCK);
      unscale(stage.values);
      System.arraycopy(stage.values, 0, wide, slot * BLOCK, BLOCK);
    }
  }

  private static void brainBits(int[] bits) {
    for (int j = 0; j < ODD; j++) {
      bits[j + BITS] = bits[j] << 16;
      bits[j + BITS + ODD] = bits[j] & 0xffff0000;
    }
  }

  /** Exponent and fraction where a float has them: 2^-112 times the value; infinities as such. */
  private static void scaledEvens(int[] bits) {
    for (int j = 0; j < ODD; j++) {
      int x = bits[j];
      int magnitude = (x & 0x7fff) << 13;
      int special = ((0x0f7fffff - magnitude) >> 31) & INFINITY;
      bits[j + BITS] = ((x & 0x8000) << 16) | magnitude | special;
    }
  }

  private static void scaledOdds(int[] bits) {
    for (int j = 0; j < ODD; j++) {
      int x = bits[j];
      int magnitude = (x >>> 3) & 0x0fffe000;
      int special = ((0x0f7fffff - magnitude) >> 31) & INFINITY;
      bits[j + BITS + ODD] = (x & 0x80000000) | magnitude | special;
    }
  }

  private static void unscale(float[] values) {
    for (int j = 0; j < BLOCK; j++) {
      values[j] *= 0x1p112f;
    }
  }

  @Override
  public void narrow(float[] wide, short[] raw) {
    Stage stage = stages.get();
    stage.floats.put(0, wide, 0, BLOCK);
    stage.ints.get(0, stage.bits, BITS, BLOCK);
    if (brain) {
      brainRound(stage.bits);
    } else {
      System.arraycopy(wide, 0, stage.values, 0, BLOCK);
      addHalf(stage.values);
      stage.floats.put(0, stage.values, 0, BLOCK);
      stage.ints.get(0, stage.bits, MORE, BLOCK);
      roundFinite(stage.bits);
      roundRest(stage.bits);
    }
    pair(stage.bits);
    stage.ints.put(0, stage.bits, 0, ODD);
    stage.shorts.get(0, raw, 0, BLOCK);
  }

  private static void brainRound(int[] bits) {
    for (int j = 0; j < BLOCK; j++) {
      int b = bits[j + BITS];
      int rounded = (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
      int nan = (INFINITY - (b & 0x7fffffff)) >> 31;
      bits[j + BITS] = (rounded & ~nan) | (Halves.BF16_NAN & nan);
    }
  }

  /** |x| + 0.5 rounds |x| to a multiple of 2^-24, the least f16, when |x| is below 0.5. */
  private static void addHalf(float[] values) {
    for (int j = 0; j < BLOCK; j++) {
      values[j] = Math.abs(values[j]) + 0.5f;
    }
  }

  /** From the bits of x and of |x| + 0.5, for what becomes subnormal, to the magnitude in f16. */
  private static void roundFinite(int[] bits) {
    for (int j = 0; j < BLOCK; j++) {
      int magnitude = bits[j + BITS] & 0x7fffffff;
      int normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13;
      int small = (magnitude - 0x38800000) >> 31;
      bits[j + MORE] = (normal & ~small) | ((bits[j + MORE] - 0x3f000000) & small);
    }
  }

  /** Overflow, sign and NaN. */
  private static void roundRest(int[] bits) {
    for (int j = 0; j < BLOCK; j++) {
      int magnitude = bits[j + BITS] & 0x7fffffff;
      int large = (0x477fefff - magnitude) >> 31;
      int nan = (INFINITY - magnitude) >> 31;
      int signed =
          (bits[j + MORE] & ~large) | (0x7c00 & large) | ((bits[j + BITS] >>> 16) & 0x8000);
      bits[j + BITS] = (signed & ~nan) | (Halves.F16_NAN & nan);
    }
  }

  private static void pair(int[] bits) {
    for (int j = 0; j < ODD; j++) {
      bits[j] = bits[j + BITS] | bits[j + BITS + ODD] << 16;
    }
  }

  @Override
  public String description() {
    return "plain loops";
  }
}
