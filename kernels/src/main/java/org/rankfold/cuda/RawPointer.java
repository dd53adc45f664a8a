// SPDX-License-Identifier: Apache-2.0
package org.rankfold.cuda;

import org.bytedeco.javacpp.Pointer;

/** An address that JavaCPP neither made nor frees. */
final class RawPointer extends Pointer {
  RawPointer(long address) {
    this.address = address;
  }
}
