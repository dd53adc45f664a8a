// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

import java.nio.ByteBuffer;
import org.rankfold.contract.DType;
import org.rankfold.view.View;

/** Where the views of a test lie. */
enum TestMemory {
  /** Arrays, each view the whole of one. */
  HEAP,
  /** Direct buffers, aligned. */
  DIRECT,
  /** Arrays and direct buffers by turns, at odd elements and odd bytes. */
  MIXED;

  /** A fresh view; {@code index} is its place among the views of the test. */
  View view(DType dtype, int count, int index) {
    return switch (this) {
      case HEAP -> heap(dtype, count, 0);
      case DIRECT -> direct(dtype, count, 0);
      case MIXED ->
          switch (index % 4) {
            case 0 -> heap(dtype, count, index % 5);
            case 1 -> direct(dtype, count, 8 + index % 7);
            case 2 -> direct(dtype, count, dtype.bytes() * (index % 3));
            default -> heap(dtype, count, 0);
          };
    };
  }

  static View heap(DType dtype, int count, int offset) {
    int length = count + offset + 1;
    return switch (dtype) {
      case F32 -> View.of(new float[length], offset, count);
      case F64 -> View.of(new double[length], offset, count);
      case F16, BF16 -> View.of(new short[length], dtype, offset, count);
      case I32 -> View.of(new int[length], offset, count);
      case I64 -> View.of(new long[length], offset, count);
    };
  }

  static View direct(DType dtype, int count, int byteOffset) {
    int bytes = count * dtype.bytes();
    ByteBuffer buffer = ByteBuffer.allocateDirect(byteOffset + bytes + 3);
    return View.of(buffer.position(byteOffset).limit(byteOffset + bytes), dtype);
  }
}
