// SPDX-License-Identifier: Apache-2.0
package org.rankfold.it.bits;

import java.nio.ByteBuffer;
import org.rankfold.view.View;

/** The raw bits of a view, as a value. */
final class Bits {
  private final ByteBuffer bytes;

  private Bits(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  /** A copy of the view's bits as they are now. */
  static Bits of(View view) {
    ByteBuffer copy = ByteBuffer.allocateDirect(Math.toIntExact(view.byteCount()));
    view.copyTo(View.of(copy, view.dtype()));
    return new Bits(copy);
  }

  /** The first byte that differs, or -1. */
  int mismatch(Bits other) {
    return bytes.mismatch(other.bytes);
  }
}
