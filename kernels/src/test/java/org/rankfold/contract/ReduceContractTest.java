// SPDX-License-Identifier: Apache-2.0
package org.rankfold.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

class ReduceContractTest {
  /** Checkpoints and other versions carry these: a change is a new version of the contract. */
  @Test
  void shouldKeepItsIdAndDigest() {
    ReduceContract contract = new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 8);
    assertThat(contract.id()).isEqualTo("rankfold/1:f32:sum:left:8");
    assertThat(contract.digest()).isEqualTo(0xfec5ed4224408fd7L);
    ReduceContract other = new ReduceContract(DType.BF16, ReduceOp.MEAN, FoldOrder.RANK_TREE, 3);
    assertThat(other.id()).isEqualTo("rankfold/1:bf16:mean:tree:3");
  }

  @Test
  void shouldHaveADigestOfItsOwn() {
    Set<Long> digests = new HashSet<>();
    int contracts = 0;
    for (DType dtype : DType.values()) {
      for (ReduceOp op : ReduceOp.values()) {
        for (FoldOrder order : FoldOrder.values()) {
          for (int world = 1; world <= 3; world++) {
            if (op != ReduceOp.MEAN || dtype.isFloating()) {
              digests.add(new ReduceContract(dtype, op, order, world).digest());
              contracts++;
            }
          }
        }
      }
    }
    assertThat(digests).hasSize(contracts);
  }

  @Test
  void shouldRefuseWorldsBelowOneAndMeansOfIntegers() {
    assertThatThrownBy(() -> new ReduceContract(DType.F32, ReduceOp.SUM, FoldOrder.RANK_LEFT, 0))
        .isInstanceOfSatisfying(
            CollectiveException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_WORLD))
        .hasMessage("world=0 < 1");
    for (DType dtype : new DType[] {DType.I32, DType.I64}) {
      assertThatThrownBy(() -> new ReduceContract(dtype, ReduceOp.MEAN, FoldOrder.RANK_LEFT, 2))
          .isInstanceOfSatisfying(
              CollectiveException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.UNDEFINED_OPERATION))
          .hasMessage("op=mean is not defined for dtype=" + dtype.label());
    }
  }

  @Test
  void shouldBeFoundByLabels() {
    for (DType dtype : DType.values()) {
      assertThat(DType.ofLabel(dtype.label())).isEqualTo(dtype);
    }
    for (ReduceOp op : ReduceOp.values()) {
      assertThat(ReduceOp.ofLabel(op.label())).isEqualTo(op);
    }
    for (FoldOrder order : FoldOrder.values()) {
      assertThat(FoldOrder.ofLabel(order.label())).isEqualTo(order);
    }
    assertThatThrownBy(() -> DType.ofLabel("f8"))
        .hasMessage("dtype=f8 is none of: f32, f64, f16, bf16, i32, i64");
  }
}
