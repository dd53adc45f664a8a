// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

/**
 * A stream of 64-bit words that any language can make again: the splitmix64 generator (Steele, Lea
 * and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
 *
 * <p>The same seed gives the same words on every JVM and processor. Not for secrets. One thread at
 * a time.
 */
public final class SplitMix {
  /** The odd step between two states. */
  static final long STEP = 0x9E3779B97F4A7C15L;

  private long state;

  /**
   * Starts a stream.
   *
   * @param seed any value; streams of different seeds are unrelated in practice
   */
  public SplitMix(long seed) {
    state = seed;
  }

  /**
   * Takes the next word.
   *
   * @return 64 bits
   */
  public long word() {
    state += STEP;
    return mix(state);
  }

  /**
   * Takes the next word as a number below a bound: the word, unsigned, modulo the bound (the bias
   * is below bound / 2^64).
   *
   * @param bound above 0
   * @return 0 .. bound - 1
   */
  public int below(int bound) {
    if (bound < 1) {
      throw new IllegalArgumentException("bound=" + bound + " < 1");
    }
    return (int) Long.remainderUnsigned(word(), bound);
  }

  /**
   * Takes the next word as a number spread evenly over -1 (inclusive) to 1 (exclusive), on a grid
   * of 2^-23.
   *
   * @return the number, exact
   */
  public float signedUnit() {
    return signedUnit(word());
  }

  /** The top 24 bits of a word as a number of [-1, 1): every step is exact. */
  static float signedUnit(long word) {
    return ((float) (word >>> 40) * 0x1p-24f - 0.5f) * 2.0f;
  }

  /** The finaliser of splitmix64: a bijection of the 64-bit words. */
  static long mix(long word) {
    long z = (word ^ (word >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
