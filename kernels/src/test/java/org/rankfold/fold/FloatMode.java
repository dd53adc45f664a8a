// SPDX-License-Identifier: Apache-2.0
package org.rankfold.fold;

/** The calling thread's MXCSR, by a library that the test builds. */
final class FloatMode {
  private FloatMode() {}

  /** Sets the bits of a mask and returns the register. */
  static native int set(int mask);
}
