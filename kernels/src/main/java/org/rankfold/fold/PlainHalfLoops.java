// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.ShortBuffer;
import org.rankfold.view.DirectView;
import org.rankfold.view.HeapView;
import org.rankfold.view.View;

/**
 * Halves by plain loops that HotSpot 17 turns into vector instructions: int to int and float to
 * float only, without a branch. Where bits change their type, the block is copied through a small
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

  /** A thread's blocks on the way from one type to another. */
  private static final class Stage {
    final ByteBuffer bytes =
        ByteBuffer.allocateDirect(BLOCK * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    final ShortBuffer shorts = bytes.asShortBuffer();
    final IntBuffer ints = bytes.asIntBuffer();
    final FloatBuffer floats = bytes.asFloatBuffer();
    final int[] pairs = new int[BLOCK];
    final int[] bits = new int[BLOCK];
    final int[] more = new int[BLOCK];
    final float[] values = new float[BLOCK];
  }

  @Override
  public void widen(View view, int from, int n, float[] block) {
    Stage stage = stages.get();
    int half = (n + 1) / 2;
    if (view instanceof HeapView heap) {
      stage.shorts.put(0, (short[]) heap.array(), heap.offset() + from, n);
    } else {
      DirectView direct = (DirectView) view;
      stage.bytes.put(0, direct.bytes(), direct.byteOffset() + from * 2, n * 2);
    }
    stage.ints.get(0, stage.pairs, 0, half);
    if (brain) {
      brainBits(stage.pairs, stage.bits, half);
    } else {
      scaledBits(stage.pairs, stage.bits, half);
    }
    stage.ints.put(0, stage.bits, 0, 2 * half);
    stage.floats.get(0, block, 0, 2 * half);
    if (!brain) {
      unscale(block, 2 * half);
    }
  }

  private static void brainBits(int[] pairs, int[] bits, int half) {
    for (int j = 0; j < half; j++) {
      bits[j] = pairs[j] << 16;
    }
    for (int j = 0; j < half; j++) {
      bits[half + j] = pairs[j] & 0xffff0000;
    }
  }

  /**
   * Exponent and fraction where a float has them, so 2^-112 times the value; infinities as they
   * are.
   */
  private static void scaledBits(int[] pairs, int[] bits, int half) {
    for (int j = 0; j < half; j++) {
      int x = pairs[j];
      int magnitude = (x & 0x7fff) << 13;
      int special = ((0x0f7fffff - magnitude) >> 31) & INFINITY;
      bits[j] = ((x & 0x8000) << 16) | magnitude | special;
    }
    for (int j = 0; j < half; j++) {
      int x = pairs[j];
      int magnitude = (x >>> 3) & 0x0fffe000;
      int special = ((0x0f7fffff - magnitude) >> 31) & INFINITY;
      bits[half + j] = (x & 0x80000000) | magnitude | special;
    }
  }

  private static void unscale(float[] block, int n) {
    for (int j = 0; j < n; j++) {
      block[j] *= 0x1p112f;
    }
  }

  @Override
  public void narrow(float[] block, int n, View view, int at) {
    Stage stage = stages.get();
    int half = (n + 1) / 2;
    stage.floats.put(0, block, 0, 2 * half);
    stage.ints.get(0, stage.bits, 0, 2 * half);
    if (brain) {
      brainRound(stage.bits, 2 * half);
    } else {
      addHalf(block, stage.values, 2 * half);
      stage.floats.put(0, stage.values, 0, 2 * half);
      stage.ints.get(0, stage.more, 0, 2 * half);
      round(stage.bits, stage.more, 2 * half);
    }
    pair(stage.bits, stage.pairs, half);
    stage.ints.put(0, stage.pairs, 0, half);
    if (view instanceof HeapView heap) {
      stage.shorts.get(0, (short[]) heap.array(), heap.offset() + at, n);
    } else {
      DirectView direct = (DirectView) view;
      direct.bytes().put(direct.byteOffset() + at * 2, stage.bytes, 0, n * 2);
    }
  }

  private static void brainRound(int[] bits, int n) {
    for (int j = 0; j < n; j++) {
      int b = bits[j];
      int rounded = (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
      int nan = (INFINITY - (b & 0x7fffffff)) >> 31;
      bits[j] = (rounded & ~nan) | (Halves.BF16_NAN & nan);
    }
  }

  /** |x| + 0.5 rounds |x| to a multiple of 2^-24, the least f16, when |x| is below 0.5. */
  private static void addHalf(float[] block, float[] values, int n) {
    for (int j = 0; j < n; j++) {
      values[j] = Math.abs(block[j]) + 0.5f;
    }
  }

  /** The f16 of float bits; {@code more} has the bits of |x| + 0.5, for what becomes subnormal. */
  private static void round(int[] bits, int[] more, int n) {
    for (int j = 0; j < n; j++) {
      int magnitude = bits[j] & 0x7fffffff;
      int normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13;
      int small = (magnitude - 0x38800000) >> 31;
      more[j] = (normal & ~small) | ((more[j] - 0x3f000000) & small);
    }
    for (int j = 0; j < n; j++) {
      int magnitude = bits[j] & 0x7fffffff;
      int large = (0x477fefff - magnitude) >> 31;
      int nan = (INFINITY - magnitude) >> 31;
      int signed = (more[j] & ~large) | (0x7c00 & large) | ((bits[j] >>> 16) & 0x8000);
      bits[j] = (signed & ~nan) | (Halves.F16_NAN & nan);
    }
  }

  private static void pair(int[] bits, int[] pairs, int half) {
    for (int j = 0; j < half; j++) {
      pairs[j] = bits[j] | bits[half + j] << 16;
    }
  }
}
