// SPDX-License-Identifier: Apache-2.0
package org.rankfold.spark;

import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * A stream of pseudo-random numbers that depends on its seed and path only, never on tasks, hosts
 * or Java versions: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators", 2014) over 64-bit state. Not thread-safe; not for secrets.
 *
 * <p>{@link #child(long)} gives independent streams for what must not depend on how much was drawn
 * before, such as the shuffle of an epoch.
 */
public final class SeedStream {
  private static final long GAMMA = 0x9e3779b97f4a7c15L;

  private final long origin;
  private long state;

  /** The stream whose state is {@code origin}. */
  SeedStream(long origin) {
    this.origin = origin;
    this.state = origin;
  }

  /**
   * The stream of a job and a logical rank.
   *
   * @param jobSeed any number
   * @param logicalRank at least 0
   * @return the stream at its beginning
   */
  public static SeedStream of(long jobSeed, int logicalRank) {
    return new SeedStream(mix(jobSeed)).child(logicalRank);
  }

  /**
   * A stream of its own, the same however much was drawn from this one.
   *
   * @param key any number
   * @return the stream at its beginning
   */
  public SeedStream child(long key) {
    return new SeedStream(mix(origin ^ mix(key + GAMMA)));
  }

  /**
   * The next 64 bits.
   *
   * @return any long
   */
  public long nextLong() {
    state += GAMMA;
    return mix(state);
  }

  /**
   * The next number below a bound, each equally likely.
   *
   * @param bound at least 1
   * @return from 0, below bound
   */
  public int nextInt(int bound) {
    if (bound < 1) {
      throw CollectiveException.usage(ErrorCode.INVALID_ARGUMENT, "bound=%d < 1", bound);
    }
    long range = 1L << 31;
    long fair = range - range % bound;
    long drawn = nextLong() >>> 33;
    while (drawn >= fair) {
      drawn = nextLong() >>> 33;
    }
    return (int) (drawn % bound);
  }

  /**
   * The next number of [0, 1), a multiple of 2^-53.
   *
   * @return a double
   */
  public double nextDouble() {
    return (nextLong() >>> 11) * 0x1.0p-53;
  }

  /**
   * The next number of [0, 1), a multiple of 2^-24.
   *
   * @return a float
   */
  public float nextFloat() {
    return (nextLong() >>> 40) * 0x1.0p-24f;
  }

  /** David Stafford's thirteenth variant of the finalizer of MurmurHash3, as SplitMix64 uses it. */
  private static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
