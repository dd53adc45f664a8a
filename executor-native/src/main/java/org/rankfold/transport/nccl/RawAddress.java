// SPDX-License-Identifier: Apache-2.0
package org.rankfold.transport.nccl;

import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.javacpp.Pointer;
import org.rankfold.cuda.CudaStream;
import org.rankfold.view.DeviceView;

/** An address that JavaCPP neither made nor frees. */
final class RawAddress extends Pointer {
  private RawAddress(long address) {
    this.address = address;
  }

  static Pointer of(DeviceView view) {
    return new RawAddress(view.address());
  }

  static CUstream_st stream(CudaStream stream) {
    return new CUstream_st(new RawAddress(stream.address()));
  }
}
