// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * f16 by the Vector API; the same bits as the plain loops. Loaded by name where the module is; uses
 * nothing that differs between JDK 17 and 25. The loops are short and call no methods of their own:
 * past some size HotSpot 17 gives up, makes an object of each vector, and takes other loops of the
 * process along (measured: to a tenth).
 */
final class VectorF16Loops implements HalfLoops {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
  private static final int INFINITY = 0x7f800000;
  private static final int LANES = FLOATS.length();

  VectorF16Loops() {
    if (ODD % LANES != 0) {
      throw new UnsupportedOperationException("lanes=" + LANES + " do not divide " + ODD);
    }
  }

  @Override
  public void widen(short[] raw, float[] wide, int slot) {
    int even = slot * BLOCK;
    for (int j = 0; j < ODD; j += LANES) {
      IntVector x = ShortVector.fromArray(SHORTS, raw, 2 * j).reinterpretAsInts();
      x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().intoArray(wide, even + j);
      x.reinterpretAsFloats().intoArray(wide, even + ODD + j);
    }
    spread(wide, even);
  }

  /** Upper halves of lanes to floats: exponent and fraction moved, 2^112 times; infinities kept. */
  private static void spread(float[] wide, int from) {
    for (int j = from; j < from + BLOCK; j += LANES) {
      IntVector scaled =
          FloatVector.fromArray(FLOATS, wide, j)
              .reinterpretAsInts()
              .lanewise(VectorOperators.ASHR, 3)
              .and(0x8fffe000);
      IntVector special =
          scaled.and(INFINITY).sub(0x0f800000).lanewise(VectorOperators.ASHR, 31).not();
      scaled.or(special.and(INFINITY)).reinterpretAsFloats().mul(0x1p112f).intoArray(wide, j);
    }
  }

  @Override
  public void narrow(float[] wide, short[] raw) {
    round(wide);
    finish(wide);
    for (int j = 0; j < ODD; j += LANES) {
      IntVector even = FloatVector.fromArray(FLOATS, wide, BLOCK + j).reinterpretAsInts();
      IntVector odd = FloatVector.fromArray(FLOATS, wide, BLOCK + ODD + j).reinterpretAsInts();
      odd.lanewise(VectorOperators.LSHL, 16).or(even).reinterpretAsShorts().intoArray(raw, 2 * j);
    }
  }

  /** Slot 1 = the magnitude of slot 0 in f16, from 2^16 and for a NaN that of infinity. */
  private static void round(float[] wide) {
    for (int j = 0; j < BLOCK; j += LANES) {
      IntVector magnitude =
          FloatVector.fromArray(FLOATS, wide, j)
              .reinterpretAsInts()
              .and(0x7fffffff)
              .min(0x47800000);
      IntVector lowest = magnitude.lanewise(VectorOperators.LSHR, 13).and(1);
      // |x| + 0.5 rounds to a multiple of 2^-24, the least f16.
      IntVector small =
          magnitude.reinterpretAsFloats().add(0.5f).reinterpretAsInts().sub(0x3f000000);
      magnitude
          .add(0xfff - 0x38000000)
          .add(lowest)
          .lanewise(VectorOperators.LSHR, 13)
          .blend(small, magnitude.compare(VectorOperators.LT, 0x38800000))
          .reinterpretAsFloats()
          .intoArray(wide, BLOCK + j);
    }
  }

  /** Slot 1 gets the sign of slot 0, and its NaNs as the canonical one. */
  private static void finish(float[] wide) {
    for (int j = 0; j < BLOCK; j += LANES) {
      IntVector bits = FloatVector.fromArray(FLOATS, wide, j).reinterpretAsInts();
      FloatVector.fromArray(FLOATS, wide, BLOCK + j)
          .reinterpretAsInts()
          .or(bits.lanewise(VectorOperators.LSHR, 16).and(0x8000))
          .blend(Halves.F16_NAN, bits.and(0x7fffffff).compare(VectorOperators.GT, INFINITY))
          .reinterpretAsFloats()
          .intoArray(wide, BLOCK + j);
    }
  }

  @Override
  public String description() {
    return "Vector API, " + LANES + " lanes";
  }
}
