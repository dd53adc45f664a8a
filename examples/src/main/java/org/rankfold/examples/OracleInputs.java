// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

/**
 * Inputs for proving a cluster's bits: what any logical rank contributes to a reduction of {@code
 * digest}, made from a seed, one element at a time, without the elements before it.
 *
 * <p>Element i of logical rank r comes from one 64-bit word, {@code mix(s + (i + 1) * step)} with
 * {@code s = mix(seed ^ mix(r + 1))}, where mix and step are splitmix64's. The {@link Kind} says
 * how a word becomes a value. The project's table of golden digests was computed over these inputs
 * by a program that shares no code with this one; the folds they prove are not used here either,
 * nor are their conversions.
 *
 * <p>Stateless but for kind and seed: any thread may call. Arrays returned are new and the
 * caller's. All methods throw {@link IllegalArgumentException} for a negative rank, first element
 * or count, and the integer ones for a kind other than {@link Kind#BITS}.
 */
public final class OracleInputs {
  /** How a word becomes a value. */
  public enum Kind {
    /** Even over [-1, 1), on a grid of 2^-23 (f64: 2^-52). */
    UNIFORM,
    /**
     * Random sign and significand, exponent -20 .. 20 (f64: -40 .. 40): the order of the additions
     * shows.
     */
    SPREAD,
    /**
     * The word's low bits as they are: NaNs, infinities, subnormals. Integers take this kind only.
     */
    BITS,
    /**
     * One of 16 awkward values: zeros of both signs, subnormals, ties, infinities, a signalling
     * NaN.
     */
    EDGE,
    /**
     * By r mod 3: +B, a small s, -B, where B = 1.5 * 2^(8 .. 15) and s is as in {@link #UNIFORM}:
     * what is left depends on when B and s met, in halves too.
     */
    CANCEL
  }

  private final Kind kind;
  private final long seed;

  /**
   * Describes inputs; makes none yet.
   *
   * @param kind how a word becomes a value
   * @param seed any value
   */
  public OracleInputs(Kind kind, long seed) {
    this.kind = kind;
    this.seed = seed;
  }

  /**
   * Makes float32 elements.
   *
   * @param rank the logical rank
   * @param first the index of the first element
   * @param count how many
   * @return elements first .. first + count - 1
   */
  public float[] f32(long rank, long first, int count) {
    long base = base(rank, first, count);
    float[] out = new float[count];
    for (int i = 0; i < count; i++) {
      out[i] = single(word(base, first + i), rank);
    }
    return out;
  }

  /**
   * Makes float64 elements.
   *
   * @param rank the logical rank
   * @param first the index of the first element
   * @param count how many
   * @return elements first .. first + count - 1
   */
  public double[] f64(long rank, long first, int count) {
    long base = base(rank, first, count);
    double[] out = new double[count];
    for (int i = 0; i < count; i++) {
      out[i] = twofold(word(base, first + i), rank);
    }
    return out;
  }

  /**
   * Makes float16 elements: the float32 value rounded to nearest even, except that {@link
   * Kind#BITS} and {@link Kind#EDGE} pick halves themselves.
   *
   * @param rank the logical rank
   * @param first the index of the first element
   * @param count how many
   * @return the bits of elements first .. first + count - 1
   */
  public short[] f16(long rank, long first, int count) {
    return halves(rank, first, count, false);
  }

  /**
   * Makes bfloat16 elements: the float32 value rounded to nearest even, except that {@link
   * Kind#BITS} and {@link Kind#EDGE} pick halves themselves.
   *
   * @param rank the logical rank
   * @param first the index of the first element
   * @param count how many
   * @return the bits of elements first .. first + count - 1
   */
  public short[] bf16(long rank, long first, int count) {
    return halves(rank, first, count, true);
  }

  /**
   * Makes int32 elements.
   *
   * @param rank the logical rank
   * @param first the index of the first element
   * @param count how many
   * @return elements first .. first + count - 1
   */
  public int[] i32(long rank, long first, int count) {
    long base = integerBase(rank, first, count);
    int[] out = new int[count];
    for (int i = 0; i < count; i++) {
      out[i] = (int) word(base, first + i);
    }
    return out;
  }

  /**
   * Makes int64 elements.
   *
   * @param rank the logical rank
   * @param first the index of the first element
   * @param count how many
   * @return elements first .. first + count - 1
   */
  public long[] i64(long rank, long first, int count) {
    long base = integerBase(rank, first, count);
    long[] out = new long[count];
    for (int i = 0; i < count; i++) {
      out[i] = word(base, first + i);
    }
    return out;
  }

  private long base(long rank, long first, int count) {
    if (rank < 0 || first < 0 || count < 0) {
      throw new IllegalArgumentException(
          "rank=" + rank + " first=" + first + " count=" + count + ": one is below 0");
    }
    return SplitMix.mix(seed ^ SplitMix.mix(rank + 1));
  }

  private long integerBase(long rank, long first, int count) {
    if (kind != Kind.BITS) {
      throw new IllegalArgumentException(
          "kind=" + kind + " != " + Kind.BITS + ", the one kind of integers");
    }
    return base(rank, first, count);
  }

  private static long word(long base, long element) {
    return SplitMix.mix(base + (element + 1) * SplitMix.STEP);
  }

  private short[] halves(long rank, long first, int count, boolean brain) {
    long base = base(rank, first, count);
    short[] out = new short[count];
    for (int i = 0; i < count; i++) {
      long word = word(base, first + i);
      out[i] =
          switch (kind) {
            case BITS -> (short) word;
            case EDGE -> brain ? OracleEdges.bf16(word) : OracleEdges.f16(word);
            case UNIFORM, SPREAD, CANCEL -> {
              float value = single(word, rank);
              yield brain ? HalfRounding.bf16(value) : HalfRounding.f16(value);
            }
          };
    }
    return out;
  }

  private float single(long word, long rank) {
    return switch (kind) {
      case UNIFORM -> SplitMix.signedUnit(word);
      case SPREAD -> {
        int sign = (int) word << 31;
        int exponent = 127 - 20 + (int) ((word >>> 1) % 41);
        yield Float.intBitsToFloat(sign | exponent << 23 | (int) (word >>> 41));
      }
      case BITS -> Float.intBitsToFloat((int) word);
      case EDGE -> OracleEdges.f32(word);
      case CANCEL -> rank % 3 == 1 ? SplitMix.signedUnit(word) : (float) large(word, rank);
    };
  }

  private double twofold(long word, long rank) {
    return switch (kind) {
      case UNIFORM -> signedUnit(word);
      case SPREAD -> {
        long sign = word << 63;
        long exponent = 1023 - 40 + (word >>> 1) % 81;
        yield Double.longBitsToDouble(sign | exponent << 52 | SplitMix.mix(word) >>> 12);
      }
      case BITS -> Double.longBitsToDouble(word);
      case EDGE -> OracleEdges.f64(word);
      case CANCEL -> rank % 3 == 1 ? signedUnit(word) : large(word, rank);
    };
  }

  private static double signedUnit(long word) {
    return ((double) (word >>> 11) * 0x1p-53 - 0.5) * 2.0;
  }

  /** +-1.5 * 2^(8 .. 15); exact as a float. */
  private static double large(long word, long rank) {
    double magnitude = 1.5 * (1 << (8 + (int) (word >>> 3 & 7)));
    return rank % 3 == 0 ? magnitude : -magnitude;
  }
}
