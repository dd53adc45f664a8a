// SPDX-License-Identifier: Apache-2.0
//
// The layers of Mlp.java on a device, to the same bits. The order of operations is written in Mlp's class
// comment and nowhere else decided: a thread owns one number and makes all of its additions, one after
// another, in that order; nothing is split over threads, so no grid and no device changes a bit.
//
// Sums are __fadd_rn and products __fmul_rn: one rounding each, never contracted. A factor equal to zero is
// skipped where Mlp skips it (a NaN is not equal to zero). Softmax and loss are not here: exp and log are
// StrictMath's, on the host. NaNs that arise have the device's bits, not Java's; the fold makes them canonical.
//
// Compile with Nvrtc.exactOptions. Every kernel takes one Args by value.

typedef long long i64;

// One layer and some rows, all floats, row after row. Mirrored by MlpLaunch.java: offsets 0, 8, 16, 24, 32,
// then the numbers from 40 on, 56 bytes in all.
struct Args {
  const float *input;       // rows x in: what the layer below gave, or the features
  const float *parameters;  // in x out weights, then out biases
  float *output;            // rows x out: forward writes sums; the others read the loss gradients by them
  float *below;             // rows x in: passDown writes the loss gradients by the inputs
  float *gradient;          // as the parameters lie: addGradient adds to it
  int rows;
  int in;
  int out;
  int rectify;              // 1 for ReLU behind the sums
};

__device__ __forceinline__ i64 thread() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ float plus(float sum, float x) { return __fadd_rn(sum, x); }

__device__ __forceinline__ float plusProduct(float sum, float a, float b) {
  return __fadd_rn(sum, __fmul_rn(a, b));
}

// z[j] = bias[j]; z[j] = z[j] + a[i] * weight[i * out + j] for i ascending. A thread for each (row, j).
extern "C" __global__ void forward(const Args args) {
  const i64 at = thread();
  if (at >= (i64)args.rows * args.out) return;
  const i64 j = at % args.out;
  const float *a = args.input + at / args.out * args.in;
  const float *weight = args.parameters + j;
  float z = args.parameters[(i64)args.in * args.out + j];
  for (int i = 0; i < args.in; i++) {
    if (a[i] != 0.0f) z = plusProduct(z, a[i], weight[(i64)i * args.out]);
  }
  args.output[at] = args.rectify && z <= 0.0f ? 0.0f : z;
}

// d'[i] = d[0] * weight[i * out] + d[1] * weight[i * out + 1] + ..., 0 where a[i] is zero. A thread for each
// (row, i).
extern "C" __global__ void passDown(const Args args) {
  const i64 at = thread();
  if (at >= (i64)args.rows * args.in) return;
  const i64 i = at % args.in;
  const float *d = args.output + at / args.in * args.out;
  const float *weight = args.parameters + i * args.out;
  float sum = 0.0f;
  if (args.input[at] != 0.0f) {
    sum = __fmul_rn(d[0], weight[0]);
    for (int j = 1; j < args.out; j++) sum = plusProduct(sum, d[j], weight[j]);
  }
  args.below[at] = sum;
}

// Row after row, from what the array held: gradient of weight[i * out + j] += a[i] * d[j], of bias[j] += d[j].
// A thread for each element, the biases being those of i = in.
extern "C" __global__ void addGradient(const Args args) {
  const i64 at = thread();
  if (at >= ((i64)args.in + 1) * args.out) return;
  const i64 i = at / args.out;
  const i64 j = at % args.out;
  float sum = args.gradient[at];
  for (i64 row = 0; row < args.rows; row++) {
    const float d = args.output[row * args.out + j];
    if (i == args.in) {
      sum = plus(sum, d);
    } else {
      const float a = args.input[row * args.in + i];
      if (a != 0.0f) sum = plusProduct(sum, a, d);
    }
  }
  args.gradient[at] = sum;
}
