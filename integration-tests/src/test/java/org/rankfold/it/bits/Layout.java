// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bits;

import java.nio.ByteBuffer;
import org.rankfold.contract.DType;
import org.rankfold.view.View;

/** Where the views of a test lie. */
enum Layout {
  /** Arrays, each view the whole of one. */
  HEAP,
  /** Direct buffers. */
  DIRECT,
  /** Parts of arrays and of direct buffers, by turns, at odd elements and odd bytes. */
  ODD;

  /** A fresh view; {@code index} is its place among the views of the test. */
  View view(DType dtype, int count, int index) {
    return switch (this) {
      case HEAP -> heap(dtype, count, 0);
      case DIRECT -> direct(dtype, count, 0);
      case ODD ->
          index % 2 == 0 ? heap(dtype, count, 1 + index % 5) : direct(dtype, count, 1 + index % 9);
    };
  }

  private static View heap(DType dtype, int count, int offset) {
    int length = count + 2 * offset;
    return switch (dtype) {
      case F32 -> View.of(new float[length], offset, count);
      case F64 -> View.of(new double[length], offset, count);
      case F16, BF16 -> View.of(new short[length], dtype, offset, count);
      case I32 -> View.of(new int[length], offset, count);
      case I64 -> View.of(new long[length], offset, count);
    };
  }

  private static View direct(DType dtype, int count, int byteOffset) {
    int bytes = count * dtype.bytes();
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes + 2 * byteOffset);
    return View.of(buffer.position(byteOffset).limit(byteOffset + bytes), dtype);
  }
}
