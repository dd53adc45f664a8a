// SPDX-License-Identifier: Apache-2.0
package org.rankfold.wire;

import org.rankfold.contract.DType;
import org.rankfold.contract.FoldOrder;
import org.rankfold.contract.ReduceOp;

/** The numbers of types, operations and orders on the wire; 0 says none. Never reused. */
final class WireCodes {
  private static final DType[] DTYPES = {
    null, DType.F32, DType.F64, DType.F16, DType.BF16, DType.I32, DType.I64
  };
  private static final ReduceOp[] OPS = {
    null, ReduceOp.SUM, ReduceOp.MEAN, ReduceOp.MIN, ReduceOp.MAX
  };
  private static final FoldOrder[] ORDERS = {null, FoldOrder.RANK_LEFT, FoldOrder.RANK_TREE};

  private WireCodes() {}

  static int ofDType(DType dtype) {
    return code(DTYPES, dtype);
  }

  static int ofOp(ReduceOp op) {
    return code(OPS, op);
  }

  static int ofOrder(FoldOrder order) {
    return code(ORDERS, order);
  }

  static DType dtype(int code) throws RefusedBytes {
    return value(DTYPES, code, "dtype");
  }

  static ReduceOp op(int code) throws RefusedBytes {
    return value(OPS, code, "op");
  }

  static FoldOrder order(int code) throws RefusedBytes {
    return value(ORDERS, code, "order");
  }

  private static <T> int code(T[] values, T value) {
    for (int code = 0; code < values.length; code++) {
      if (values[code] == value) {
        return code;
      }
    }
    throw new IllegalArgumentException("no code for " + value);
  }

  private static <T> T value(T[] values, int code, String what) throws RefusedBytes {
    if (code < 0 || code >= values.length) {
      throw new RefusedBytes(
          WireRefusal.BAD_FIELD, "%s=%d is not from 0 to %d", what, code, values.length - 1);
    }
    return values[code];
  }
}
