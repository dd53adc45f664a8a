// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * bf16 by the Vector API, whole folds in registers; the same bits as the plain loops. Loaded by
 * name where the module is; uses nothing that differs between JDK 17 and 25.
 */
final class VectorBf16Loops implements HalfLoops {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
  private static final int LANES = FLOATS.length();

  VectorBf16Loops() {
    if (ODD % LANES != 0) {
      throw new UnsupportedOperationException("lanes=" + LANES + " do not divide " + ODD);
    }
  }

  private static FloatVector even(IntVector x) {
    return x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
  }

  private static FloatVector odd(IntVector x) {
    return x.and(0xffff0000).reinterpretAsFloats();
  }

  /** Sixteen bits in each lane, zeros above. */
  private static IntVector round(FloatVector v) {
    IntVector bits = v.reinterpretAsInts();
    IntVector lowest = bits.lanewise(VectorOperators.LSHR, 16).and(1);
    IntVector rounded = bits.add(0x7fff).add(lowest).lanewise(VectorOperators.LSHR, 16);
    return rounded.blend(
        Halves.BF16_NAN, bits.and(0x7fffffff).compare(VectorOperators.GT, 0x7f800000));
  }

  private static IntVector pairs(short[] raw, int slot, int j) {
    return ShortVector.fromArray(SHORTS, raw, slot * BLOCK + 2 * j).reinterpretAsInts();
  }

  @Override
  public void widen(short[] raw, float[] wide, int slot) {
    for (int j = 0; j < ODD; j += LANES) {
      IntVector x = pairs(raw, slot, j);
      even(x).intoArray(wide, slot * BLOCK + j);
      odd(x).intoArray(wide, slot * BLOCK + ODD + j);
    }
  }

  @Override
  public void narrow(float[] wide, short[] raw) {
    for (int j = 0; j < ODD; j += LANES) {
      IntVector low = round(FloatVector.fromArray(FLOATS, wide, j));
      IntVector high = round(FloatVector.fromArray(FLOATS, wide, ODD + j));
      high.lanewise(VectorOperators.LSHL, 16).or(low).reinterpretAsShorts().intoArray(raw, 2 * j);
    }
  }

  @Override
  public void sum4(short[] raw, float[] wide) {
    for (int j = 0; j < ODD; j += LANES) {
      IntVector a = pairs(raw, 0, j);
      IntVector b = pairs(raw, 1, j);
      IntVector c = pairs(raw, 2, j);
      IntVector d = pairs(raw, 3, j);
      even(a).add(even(b)).add(even(c)).add(even(d)).intoArray(wide, j);
      odd(a).add(odd(b)).add(odd(c)).add(odd(d)).intoArray(wide, ODD + j);
    }
  }

  @Override
  public void add3(short[] raw, float[] wide) {
    for (int j = 0; j < ODD; j += LANES) {
      IntVector b = pairs(raw, 1, j);
      IntVector c = pairs(raw, 2, j);
      IntVector d = pairs(raw, 3, j);
      FloatVector low = FloatVector.fromArray(FLOATS, wide, j);
      FloatVector high = FloatVector.fromArray(FLOATS, wide, ODD + j);
      low.add(even(b)).add(even(c)).add(even(d)).intoArray(wide, j);
      high.add(odd(b)).add(odd(c)).add(odd(d)).intoArray(wide, ODD + j);
    }
  }

  @Override
  public String description() {
    return "Vector API, " + LANES + " lanes";
  }
}
