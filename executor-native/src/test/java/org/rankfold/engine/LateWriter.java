// SPDX-License-Identifier: Apache-2.0
package org.rankfold.engine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rankfold.cuda.CudaDevice;
import org.rankfold.cuda.CudaKernel;
import org.rankfold.cuda.CudaModule;
import org.rankfold.cuda.CudaStream;
import org.rankfold.cuda.Nvrtc;
import org.rankfold.view.DeviceView;

/** Writes device memory some time after its stream came to it; the time is bounded. */
final class LateWriter implements AutoCloseable {
  private static final String SOURCE =
      """
      struct Args { float* to; long long count; unsigned long long lateNs; float value; };
      static __device__ unsigned long long now() {
        unsigned long long ns;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
        return ns;
      }
      extern "C" __global__ void late(Args args) {
        unsigned long long start = now();
        for (int i = 0; i < 200000000 && now() - start < args.lateNs; i++) {}
        long long step = (long long)gridDim.x * blockDim.x;
        for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < args.count; i += step) {
          args.to[i] = args.value;
        }
      }
      """;

  private final CudaModule module;
  private final CudaKernel kernel;

  /** Compiles for a device. */
  LateWriter(CudaDevice device) {
    byte[] cubin = Nvrtc.cubin(SOURCE, "late.cu", Nvrtc.exactOptions(device.info().architecture()));
    module = CudaModule.load(device, cubin);
    kernel = module.kernel("late");
  }

  /** Enqueues the writing of one value everywhere. */
  void write(DeviceView to, float value, long lateNs, CudaStream on) {
    ByteBuffer args = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
    args.putLong(to.address()).putLong(to.count()).putLong(lateNs).putFloat(value);
    kernel.launch(8, 1, 128, args.array(), on);
  }

  @Override
  public void close() {
    module.close();
  }
}
