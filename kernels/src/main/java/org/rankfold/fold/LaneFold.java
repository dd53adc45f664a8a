// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import org.rankfold.contract.ReduceContract;
import org.rankfold.view.View;

/**
 * The fast fold: vectors across elements, never across ranks, in blocks that stay in the first
 * cache. Keeps a few blocks of scratch for each thread that folds.
 */
public final class LaneFold implements Fold {
  private final Lanes<float[]> f32 = new FloatLanes();
  private final Lanes<double[]> f64 = new DoubleLanes();
  private final LevelLoops<float[]> f32Level = new FloatLevelLoops();
  private final LevelLoops<double[]> f64Level = new DoubleLevelLoops();
  private final Lanes<int[]> i32 = new IntLanes();
  private final Lanes<long[]> i64 = new LongLanes();
  private final Lanes<HalfBench> f16;
  private final Lanes<HalfBench> bf16;
  private final String halves;

  LaneFold(HalfLoops f16, HalfLoops bf16) {
    this.halves = f16.description();
    this.f16 = new HalfLanes(f16);
    this.bf16 = new HalfLanes(bf16);
  }

  @Override
  public void fold(ReduceContract contract, View[] addends, View[] outs) {
    FoldArguments.checkOnHost(contract, addends, outs);
    SubnormalGuard.check();
    switch (contract.dtype()) {
      case F32 -> run(f32, f32Level, contract, addends, outs);
      case F64 -> run(f64, f64Level, contract, addends, outs);
      case F16 -> run(f16, contract, addends, outs);
      case BF16 -> run(bf16, contract, addends, outs);
      case I32 -> run(i32, contract, addends, outs);
      case I64 -> run(i64, contract, addends, outs);
    }
  }

  private static <A> void run(
      Lanes<A> lanes, LevelLoops<A> level, ReduceContract contract, View[] addends, View[] outs) {
    LevelFold<A> fold = LevelFold.of(lanes, level, contract, addends, outs);
    if (fold != null) {
      fold.run((int) addends[0].count());
    } else {
      run(lanes, contract, addends, outs);
    }
  }

  private static <B> void run(
      Lanes<B> lanes, ReduceContract contract, View[] addends, View[] outs) {
    new BlockFold<>(lanes, contract, addends, outs).run(addends[0].count());
  }

  /**
   * Says which loops convert halves.
   *
   * @return for example {@code lane (halves: plain loops)}
   */
  @Override
  public String toString() {
    return "lane (halves: " + halves + ")";
  }
}
