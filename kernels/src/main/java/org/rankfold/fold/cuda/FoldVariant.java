// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold.cuda;

import java.util.ArrayList;
import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceContract;
import org.rankfold.contract.ReduceOp;
import org.rankfold.cuda.Nvrtc;
import org.rankfold.errors.CollectiveException;
import org.rankfold.errors.ErrorCode;

/**
 * What the source is specialised for. A small world is compiled in; a larger one is an argument,
 * and only the room for its pointers is compiled in.
 *
 * @param dtype the element type
 * @param op what is done with two addends
 * @param order the order in which addends meet
 * @param fixedWorld the number of addends, or 0 where it is an argument
 * @param capacity the room for addends
 * @param shape how threads share the work
 */
record FoldVariant(
    DType dtype, ReduceOp op, FoldOrder order, int fixedWorld, int capacity, FoldShape shape) {
  /** The largest world: its pointers fill the 32,764 bytes that a kernel's arguments may have. */
  static final int MAX_WORLD = 4000;

  private static final int[] CAPACITIES = {16, 128, MAX_WORLD};

  static FoldVariant of(ReduceContract contract, FoldShape shape) {
    int world = contract.world();
    if (world > MAX_WORLD) {
      throw CollectiveException.usage(
          ErrorCode.UNSUPPORTED, "world=%d > %d addends of one device fold", world, MAX_WORLD);
    }
    int capacity = 0;
    for (int i = 0; capacity < world; i++) {
      capacity = CAPACITIES[i];
    }
    return new FoldVariant(
        contract.dtype(),
        contract.op(),
        contract.order(),
        world <= shape.maxFixedWorld() ? world : 0,
        capacity,
        shape);
  }

  /** The compiler's options, for an architecture such as {@code sm_90} or {@code compute_90}. */
  List<String> options(String architecture) {
    List<String> options = new ArrayList<>(Nvrtc.exactOptions(architecture));
    options.addAll(
        List.of(
            "-DRF_TYPE=" + dtype,
            "-DRF_OP=" + opName(),
            "-DRF_ORDER=" + (order == FoldOrder.RANK_LEFT ? "Left" : "Tree"),
            "-DRF_WORLD=" + fixedWorld,
            "-DRF_CAPACITY=" + capacity,
            "-DRF_BLOCK=" + shape.threads(),
            "-DRF_FLIGHT=" + shape.flight()));
    return options;
  }

  /** How many pieces (vectors or elements) a block folds in one round. */
  int tilePieces() {
    int pieces = fixedWorld == 0 ? 1 : Math.max(1, shape.flight() / fixedWorld);
    return shape.threads() * pieces;
  }

  private String opName() {
    return switch (op) {
      case SUM -> "Sum";
      case MEAN -> "Mean";
      case MIN -> "Min";
      case MAX -> "Max";
    };
  }
}
