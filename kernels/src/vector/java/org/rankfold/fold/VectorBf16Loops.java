// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * bf16 by the Vector API; the same bits as the plain loops. Loaded by name where the module is;
 * uses nothing that differs between JDK 17 and 25. The loops are short and call no methods of their
 * own: past some size HotSpot 17 gives up, makes an object of each vector, and takes other loops of
 * the process along (measured: to a tenth).
 */
final class VectorBf16Loops implements HalfLoops {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
  private static final int INFINITY = 0x7f800000;
  private static final int LANES = FLOATS.length();

  VectorBf16Loops() {
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
      x.and(0xffff0000).reinterpretAsFloats().intoArray(wide, even + ODD + j);
    }
  }

  @Override
  public void narrow(float[] wide, short[] raw) {
    round(wide);
    for (int j = 0; j < ODD; j += LANES) {
      IntVector even = FloatVector.fromArray(FLOATS, wide, BLOCK + j).reinterpretAsInts();
      IntVector odd = FloatVector.fromArray(FLOATS, wide, BLOCK + ODD + j).reinterpretAsInts();
      even.lanewise(VectorOperators.LSHR, 16)
          .or(odd.and(0xffff0000))
          .reinterpretAsShorts()
          .intoArray(raw, 2 * j);
    }
  }

  /** Slot 1 = the bf16 of slot 0 in the upper half of each lane, anything below. */
  private static void round(float[] wide) {
    for (int j = 0; j < BLOCK; j += LANES) {
      IntVector bits = FloatVector.fromArray(FLOATS, wide, j).reinterpretAsInts();
      IntVector lowest = bits.lanewise(VectorOperators.LSHR, 16).and(1);
      bits.add(0x7fff)
          .add(lowest)
          .blend(Halves.BF16_NAN << 16, bits.and(0x7fffffff).compare(VectorOperators.GT, INFINITY))
          .reinterpretAsFloats()
          .intoArray(wide, BLOCK + j);
    }
  }

  @Override
  public String description() {
    return "Vector API, " + LANES + " lanes";
  }
}
