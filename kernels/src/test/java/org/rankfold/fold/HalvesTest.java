// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every way of converting halves against arithmetic in double, which holds all of them exactly. */
class HalvesTest {
  /** The two types: exponent bits, fraction bits, canonical NaN. */
  private enum Half {
    F16(5, 10, Halves.F16_NAN),
    BF16(8, 7, Halves.BF16_NAN);

    private final int exponentBits;
    private final int fractionBits;
    private final short nan;

    Half(int exponentBits, int fractionBits, short nan) {
      this.exponentBits = exponentBits;
      this.fractionBits = fractionBits;
      this.nan = nan;
    }

    int infinity() {
      return ((1 << exponentBits) - 1) << fractionBits;
    }

    /** The value of bits below those of infinity; for infinity the power of two in its place. */
    double magnitude(int bits) {
      int bias = (1 << (exponentBits - 1)) - 1;
      int exponent = bits >> fractionBits;
      int fraction = bits & ((1 << fractionBits) - 1);
      return exponent == 0
          ? Math.scalb((double) fraction, 1 - bias - fractionBits)
          : Math.scalb((double) (fraction + (1 << fractionBits)), exponent - bias - fractionBits);
    }

    float scalarWiden(short bits) {
      return this == F16 ? Halves.f16ToF32(bits) : Halves.bf16ToF32(bits);
    }

    short scalarNarrow(float value) {
      return this == F16 ? Halves.f32ToF16(value) : Halves.f32ToBf16(value);
    }
  }

  /** The ways. */
  private enum Way {
    SCALAR,
    PLAIN,
    VECTOR;

    float[] widen(Half half, short[] bits) throws ReflectiveOperationException {
      float[] values = new float[bits.length];
      if (this == SCALAR) {
        for (int i = 0; i < bits.length; i++) {
          values[i] = half.scalarWiden(bits[i]);
        }
        return values;
      }
      HalfLoops loops = loops(half);
      HalfBench bench = new HalfBench();
      for (int from = 0; from < bits.length; from += HalfLoops.BLOCK) {
        int n = Math.min(HalfLoops.BLOCK, bits.length - from);
        int slot = from / HalfLoops.BLOCK % Lanes.SLOTS;
        System.arraycopy(bits, from, bench.raw, 0, n);
        loops.widen(bench.raw, bench.wide, slot);
        for (int i = 0; i < n; i++) {
          values[from + i] = bench.wide[slot * HalfLoops.BLOCK + place(i)];
        }
      }
      return values;
    }

    short[] narrow(Half half, float[] values) throws ReflectiveOperationException {
      short[] bits = new short[values.length];
      if (this == SCALAR) {
        for (int i = 0; i < bits.length; i++) {
          bits[i] = half.scalarNarrow(values[i]);
        }
        return bits;
      }
      HalfLoops loops = loops(half);
      HalfBench bench = new HalfBench();
      for (int from = 0; from < bits.length; from += HalfLoops.BLOCK) {
        int n = Math.min(HalfLoops.BLOCK, bits.length - from);
        for (int i = 0; i < n; i++) {
          bench.wide[place(i)] = values[from + i];
        }
        loops.narrow(bench.wide, bench.raw);
        System.arraycopy(bench.raw, 0, bits, from, n);
      }
      return bits;
    }

    private static int place(int i) {
      return i % 2 * HalfLoops.ODD + i / 2;
    }

    private HalfLoops loops(Half half) throws ReflectiveOperationException {
      if (this == PLAIN) {
        return half == Half.F16 ? PlainHalfLoops.f16() : PlainHalfLoops.bf16();
      }
      Assumptions.assumeTrue(
          ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent(),
          "this JVM runs without jdk.incubator.vector");
      return Folds.loops(
          "org.rankfold.fold.Vector" + (half == Half.F16 ? "F16" : "Bf16") + "Loops");
    }
  }

  private static short[] allBits() {
    short[] all = new short[1 << 16];
    for (int i = 0; i < all.length; i++) {
      all[i] = (short) i;
    }
    return all;
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void shouldWidenAll65536ValuesExactly(Way way) throws Exception {
    for (Half half : Half.values()) {
      float[] values = way.widen(half, allBits());
      for (int i = 0; i < values.length; i++) {
        int magnitude = i & 0x7fff;
        String what = half + " " + Integer.toHexString(i);
        if (magnitude > half.infinity()) {
          assertThat(values[i]).as(what).isNaN();
          continue;
        }
        double expected =
            magnitude == half.infinity() ? Double.POSITIVE_INFINITY : half.magnitude(magnitude);
        float signed = (float) (i < 0x8000 ? expected : -expected);
        assertThat(Float.floatToRawIntBits(values[i]))
            .as(what)
            .isEqualTo(Float.floatToRawIntBits(signed));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void shouldNarrowAll65536ValuesToThemselvesAndNaNsToOne(Way way) throws Exception {
    for (Half half : Half.values()) {
      short[] all = allBits();
      short[] back = way.narrow(half, way.widen(half, all));
      for (int i = 0; i < all.length; i++) {
        short expected = (all[i] & 0x7fff) > half.infinity() ? half.nan : all[i];
        assertThat(back[i]).as("%s %x", half, i).isEqualTo(expected);
      }
    }
  }

  /** Between any two neighbours: the middle goes to the even one, all else to the nearer one. */
  @ParameterizedTest
  @EnumSource(Way.class)
  void shouldRoundToNearestEvenAtEveryBoundary(Way way) throws Exception {
    for (Half half : Half.values()) {
      List<Float> inputs = new ArrayList<>();
      List<Integer> expected = new ArrayList<>();
      for (int low = 0; low < half.infinity(); low++) {
        double middle = (half.magnitude(low) + half.magnitude(low + 1)) / 2;
        float tie = (float) middle;
        assertThat((double) tie).isEqualTo(middle);
        int even = low % 2 == 0 ? low : low + 1;
        for (int sign = 0; sign <= 0x8000; sign += 0x8000) {
          float towards = sign == 0 ? 1 : -1;
          UnaryOperator<Float> signed = x -> towards * x;
          inputs.add(signed.apply(Math.nextDown(tie)));
          expected.add(sign | low);
          inputs.add(signed.apply(tie));
          expected.add(sign | even);
          inputs.add(signed.apply(Math.nextUp(tie)));
          expected.add(sign | (low + 1));
        }
      }
      check(way, half, inputs, expected);
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void shouldNarrowExtremesAndRandomBitsAsTheScalarWay(Way way) throws Exception {
    SplittableRandom random = new SplittableRandom(Long.getLong("seed", 42));
    for (Half half : Half.values()) {
      List<Float> inputs =
          new ArrayList<>(
              List.of(
                  0f,
                  -0f,
                  Float.MIN_VALUE,
                  -Float.MIN_VALUE,
                  Float.MIN_NORMAL,
                  Float.MAX_VALUE,
                  -Float.MAX_VALUE,
                  Float.POSITIVE_INFINITY,
                  Float.NEGATIVE_INFINITY,
                  Float.NaN,
                  Float.intBitsToFloat(0x7f800001),
                  Float.intBitsToFloat(0xff800001),
                  Float.intBitsToFloat(0xffffffff),
                  Float.intBitsToFloat(0x7fffffff)));
      for (int i = 0; i < 1_000_000; i++) {
        inputs.add(Float.intBitsToFloat(random.nextInt()));
      }
      List<Integer> expected = new ArrayList<>();
      for (float input : inputs) {
        expected.add(half.scalarNarrow(input) & 0xffff);
      }
      check(way, half, inputs, expected);
    }
  }

  private static void check(Way way, Half half, List<Float> inputs, List<Integer> expected)
      throws ReflectiveOperationException {
    float[] values = new float[inputs.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = inputs.get(i);
    }
    short[] bits = way.narrow(half, values);
    for (int i = 0; i < values.length; i++) {
      if ((bits[i] & 0xffff) != expected.get(i)) {
        assertThat(bits[i] & 0xffff)
            .as("%s of %s (%08x)", half, values[i], Float.floatToRawIntBits(values[i]))
            .isEqualTo(expected.get(i));
      }
    }
  }
}
