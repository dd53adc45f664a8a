// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.view.RawBits;
import org.rankfold.view.View;

/** Each way of being wrong changes golden rows: the table can fail a fold. */
class MutatedFoldTest {
  private static final ScalarFold RIGHT = new ScalarFold();

  /** Ways of being wrong, and one that is not. */
  private enum Mutation {
    REVERSED {
      @Override
      void fold(ReduceContract contract, View[] addends, View[] outs) {
        List<View> reversed = new ArrayList<>(Arrays.asList(addends));
        Collections.reverse(reversed);
        RIGHT.fold(contract, reversed.toArray(View[]::new), outs);
      }
    },
    RANKS_1_AND_2_SWAPPED {
      @Override
      void fold(ReduceContract contract, View[] addends, View[] outs) {
        View[] swapped = addends.clone();
        if (addends.length > 2) {
          swapped[1] = addends[2];
          swapped[2] = addends[1];
        }
        RIGHT.fold(contract, swapped, outs);
      }
    },
    FROM_ZERO {
      @Override
      void fold(ReduceContract contract, View[] addends, View[] outs) {
        if (contract.op() != ReduceOp.SUM || contract.order() != FoldOrder.RANK_LEFT) {
          RIGHT.fold(contract, addends, outs);
          return;
        }
        View[] more = new View[addends.length + 1];
        more[0] = TestMemory.HEAP.view(contract.dtype(), (int) addends[0].count(), 0);
        System.arraycopy(addends, 0, more, 1, addends.length);
        RIGHT.fold(
            new ReduceContract(contract.dtype(), contract.op(), contract.order(), more.length),
            more,
            outs);
      }
    },
    FLUSHED_TO_ZERO {
      @Override
      void fold(ReduceContract contract, View[] addends, View[] outs) {
        View[] flushed = new View[addends.length];
        for (int r = 0; r < addends.length; r++) {
          flushed[r] = TestMemory.HEAP.view(contract.dtype(), (int) addends[r].count(), 0);
          addends[r].copyTo(flushed[r]);
          flush(flushed[r]);
        }
        RIGHT.fold(contract, flushed, outs);
        flush(outs[0]);
      }
    },
    DIVIDED {
      @Override
      void fold(ReduceContract contract, View[] addends, View[] outs) {
        if (contract.op() != ReduceOp.MEAN || contract.dtype().isHalf()) {
          RIGHT.fold(contract, addends, outs);
          return;
        }
        RIGHT.fold(
            new ReduceContract(contract.dtype(), ReduceOp.SUM, contract.order(), contract.world()),
            addends,
            outs);
        divide(outs[0], contract.world());
      }
    },
    LAST_ADDEND_DROPPED {
      @Override
      void fold(ReduceContract contract, View[] addends, View[] outs) {
        View[] repeated = addends.clone();
        repeated[addends.length - 1] = addends[0];
        RIGHT.fold(contract, repeated, outs);
      }
    },
    TREE_FOR_LEFT {
      @Override
      void fold(ReduceContract contract, View[] addends, View[] outs) {
        RIGHT.fold(
            new ReduceContract(
                contract.dtype(), contract.op(), FoldOrder.RANK_TREE, contract.world()),
            addends,
            outs);
      }
    };

    abstract void fold(ReduceContract contract, View[] addends, View[] outs);
  }

  private static void flush(View view) {
    for (long i = 0; i < view.count(); i++) {
      long bits = RawBits.read(view, i);
      if (view.dtype() == DType.F32 && (bits & 0x7f800000L) == 0) {
        RawBits.write(view, i, bits & 0x80000000L);
      } else if (view.dtype() == DType.F64 && (bits & 0x7ff0000000000000L) == 0) {
        RawBits.write(view, i, bits & 0x8000000000000000L);
      }
    }
  }

  private static void divide(View view, int world) {
    for (long i = 0; i < view.count(); i++) {
      long bits = RawBits.read(view, i);
      if (view.dtype() == DType.F32) {
        float sum = Float.intBitsToFloat((int) bits);
        RawBits.write(view, i, Float.floatToIntBits(sum / world));
      } else {
        double sum = Double.longBitsToDouble(bits);
        RawBits.write(view, i, Double.doubleToLongBits(sum / world));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Mutation.class)
  void shouldMissGoldenRowsWhenMutated(Mutation mutation) {
    assertThat(GoldenFolds.isWrong(mutation::fold, TestMemory.HEAP)).isTrue();
  }

  @Test
  void shouldMissNearlyEveryRowWhenNothingIsWritten() {
    assertThat(GoldenFolds.wrongRows((contract, addends, outs) -> {}, TestMemory.HEAP))
        .hasSizeGreaterThan(700);
  }
}
