// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.rankfold.contract.DType;
import org.rankfold.view.View;

/** Direct memory for sums on their way, kept between calls and grown as needed. For one thread. */
final class PartialScratch {
  private final List<ByteBuffer> buffers = new ArrayList<>();

  /**
   * A stretch, its contents not defined; the same memory for the same number until more is asked
   * for.
   */
  View view(int number, DType dtype, long count) {
    int bytes = Math.toIntExact(count * dtype.bytes());
    while (buffers.size() <= number) {
      buffers.add(ByteBuffer.allocateDirect(0));
    }
    if (buffers.get(number).capacity() < bytes) {
      buffers.set(number, ByteBuffer.allocateDirect(bytes));
    }
    return View.of(buffers.get(number).duplicate().limit(bytes), dtype);
  }
}
