// SPDX-License-Identifier: Apache-2.0
//
// A plain copy in 16-byte vectors: what the fold's bandwidth is measured against.
//   CP_BLOCK   threads a block
//   CP_FLIGHT  loads each thread has in flight

struct Args {
  long long vectors;
  const uint4 *from;
  uint4 *to;
};

extern "C" __global__ void __launch_bounds__(CP_BLOCK) copy(const __grid_constant__ Args args) {
  const long long tile = (long long)CP_BLOCK * CP_FLIGHT;
  for (long long at = blockIdx.x * tile + threadIdx.x; at < args.vectors; at += gridDim.x * tile) {
    uint4 x[CP_FLIGHT];
    if (at + (CP_FLIGHT - 1) * CP_BLOCK < args.vectors) {
#pragma unroll
      for (int p = 0; p < CP_FLIGHT; p++) x[p] = __ldcs(args.from + at + p * CP_BLOCK);
#pragma unroll
      for (int p = 0; p < CP_FLIGHT; p++) __stcs(args.to + at + p * CP_BLOCK, x[p]);
    } else {
#pragma unroll 1
      for (long long last = at; last < args.vectors; last += CP_BLOCK)
        args.to[last] = args.from[last];
    }
  }
}
