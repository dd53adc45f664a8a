// SPDX-License-Identifier: Apache-2.0
package org.rankfold.examples;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.DoubleBinaryOperator;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;
import java.util.function.LongBinaryOperator;

/**
 * The reduce contract read aloud: one element at a time, by recursion, through lambdas. Slow and
 * obvious; knows none of the project's folds.
 */
final class NaiveReduction {
  private final String dtype;
  private final String op;
  private final boolean tree;
  private final int world;

  NaiveReduction(String dtype, String op, boolean tree, int world) {
    this.dtype = dtype;
    this.op = op;
    this.tree = tree;
    this.world = world;
  }

  /** The SHA-256 of the little-endian results, in hex. */
  String sha256(OracleInputs inputs, int n) {
    ByteBuffer bytes = ByteBuffer.allocate(n * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    switch (dtype) {
      case "f32" -> {
        float[][] x = new float[world][];
        for (int r = 0; r < world; r++) {
          x[r] = inputs.f32(r, 0, n);
        }
        for (int e = 0; e < n; e++) {
          int i = e;
          bytes.putInt(Float.floatToIntBits(single(r -> x[r][i])));
        }
      }
      case "f64" -> {
        double[][] x = new double[world][];
        for (int r = 0; r < world; r++) {
          x[r] = inputs.f64(r, 0, n);
        }
        for (int e = 0; e < n; e++) {
          int i = e;
          double folded = fold(r -> x[r][i], join(Double::sum), 0, world);
          double result = op.equals("mean") ? folded * (1.0 / world) : folded;
          bytes.putLong(Double.doubleToLongBits(result));
        }
      }
      case "f16", "bf16" -> {
        boolean brain = dtype.equals("bf16");
        short[][] x = new short[world][];
        for (int r = 0; r < world; r++) {
          x[r] = brain ? inputs.bf16(r, 0, n) : inputs.f16(r, 0, n);
        }
        for (int e = 0; e < n; e++) {
          int i = e;
          float result = single(r -> brain ? bf16(x[r][i]) : f16(x[r][i]));
          bytes.putShort(brain ? HalfRounding.bf16(result) : HalfRounding.f16(result));
        }
      }
      case "i32" -> {
        int[][] x = new int[world][];
        for (int r = 0; r < world; r++) {
          x[r] = inputs.i32(r, 0, n);
        }
        for (int e = 0; e < n; e++) {
          int i = e;
          bytes.putInt((int) whole(r -> x[r][i], 0, world));
        }
      }
      case "i64" -> {
        long[][] x = new long[world][];
        for (int r = 0; r < world; r++) {
          x[r] = inputs.i64(r, 0, n);
        }
        for (int e = 0; e < n; e++) {
          int i = e;
          bytes.putLong(whole(r -> x[r][i], 0, world));
        }
      }
      default -> throw new IllegalArgumentException("dtype=" + dtype);
    }
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(bytes.flip());
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * A float32 fold; floats travel as doubles, each sum is rounded to float (exactly a float
   * addition).
   */
  private float single(IntToDoubleFunction addend) {
    float folded = (float) fold(addend, join((a, b) -> (float) a + (float) b), 0, world);
    return op.equals("mean") ? folded * (1.0f / world) : folded;
  }

  private DoubleBinaryOperator join(DoubleBinaryOperator sum) {
    return switch (op) {
      case "min" -> Math::min;
      case "max" -> Math::max;
      default -> sum;
    };
  }

  private double fold(IntToDoubleFunction addend, DoubleBinaryOperator join, int from, int to) {
    if (to - from == 1) {
      return addend.applyAsDouble(from);
    }
    int mid = middle(from, to);
    return join.applyAsDouble(fold(addend, join, from, mid), fold(addend, join, mid, to));
  }

  private long whole(IntToLongFunction addend, int from, int to) {
    if (to - from == 1) {
      return addend.applyAsLong(from);
    }
    int mid = middle(from, to);
    LongBinaryOperator join =
        switch (op) {
          case "min" -> Math::min;
          case "max" -> Math::max;
          default -> Long::sum;
        };
    return join.applyAsLong(whole(addend, from, mid), whole(addend, mid, to));
  }

  /** A left fold is a tree whose right branch is always the last rank alone. */
  private int middle(int from, int to) {
    return tree ? from + Integer.highestOneBit(to - from - 1) : to - 1;
  }

  static float f16(short half) {
    int exponent = half >> 10 & 31;
    int significand = half & 1023;
    float size;
    if (exponent == 31) {
      size = significand == 0 ? Float.POSITIVE_INFINITY : Float.NaN;
    } else {
      size =
          exponent == 0
              ? Math.scalb((float) significand, -24)
              : Math.scalb((float) (1024 + significand), exponent - 25);
    }
    return half < 0 ? -size : size;
  }

  static float bf16(short brain) {
    return Float.intBitsToFloat(brain << 16);
  }
}
