// SPDX-License-Identifier: Apache-2.0
//
// The fold of the reduce contract: for every element, the addends of all logical ranks meet in one
// written order and nowhere else. Addends are bare pointers, one a rank: slots of one buffer, other
// buffers of this device or a peer's memory are all the same here.
//
// One source, specialised when compiled:
//   RF_TYPE      F32 F64 F16 BF16 I32 I64
//   RF_OP        Sum Mean Min Max
//   RF_ORDER     Left Tree
//   RF_WORLD     the number of addends where it is small, 0 where args.world says it
//   RF_CAPACITY  how many addends the arguments have room for
//   RF_BLOCK     threads a block
//   RF_FLIGHT    loads each thread has in flight, where RF_WORLD is set
//   RF_PARTIAL   set where another source follows and brings its own kernel
//
// Sums are __fadd_rn and __dadd_rn, products __fmul_rn and __dmul_rn: those are never contracted.
// Compile with --fmad=false --ftz=false --prec-div=true --prec-sqrt=true all the same.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define RF_OUTS 16
#define RF_GROUP 8

// Mirrored by FoldLaunch.java: offsets 0, 8, 16, 24, 28, 32, 36, 40, then the outs, then the addends.
struct Args {
  i64 count;          // elements of the whole stretch
  i64 shard;          // elements of one rank's shard; the last ranks' may be shorter or empty
  double scale;       // Mean: 1 / world, rounded to the accumulator type
  int world;          // addends
  int outs;           // outputs, 1 to RF_OUTS
  int rank;           // the rank of blockIdx.y = 0; rank r folds elements [r * shard, (r + 1) * shard)
  int access;         // how every pointer may be read and written: 2 in 16 bytes, 1 by element, 0 by byte
  u8 *out[RF_OUTS];
  const u8 *addend[RF_CAPACITY];
};

// ---- Element types: raw bits in memory, an accumulator in registers.

struct F32 {
  typedef u32 Bits;
  typedef float Acc;
  static __device__ Acc widen(Bits b) { return __uint_as_float(b); }
  static __device__ Bits narrow(Acc a) { return a != a ? 0x7fc00000u : __float_as_uint(a); }
};

struct F64 {
  typedef u64 Bits;
  typedef double Acc;
  static __device__ Acc widen(Bits b) { return __longlong_as_double((i64)b); }
  static __device__ Bits narrow(Acc a) {
    return a != a ? 0x7ff8000000000000ull : (u64)__double_as_longlong(a);
  }
};

struct F16 {
  typedef u16 Bits;
  typedef float Acc;
  static __device__ Acc widen(Bits b) {
    float a;
    asm("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(b));
    return a;
  }
  static __device__ Bits narrow(Acc a) {
    u16 b;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(a));
    return a != a ? (u16)0x7e00 : b;
  }
};

struct BF16 {
  typedef u16 Bits;
  typedef float Acc;
  static __device__ Acc widen(Bits b) { return __uint_as_float((u32)b << 16); }
  static __device__ Bits narrow(Acc a) {
    u32 b = __float_as_uint(a);
    return a != a ? (u16)0x7fc0 : (u16)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
  }
};

// Unsigned, so that sums wrap.
struct I32 {
  typedef u32 Bits;
  typedef u32 Acc;
  static __device__ Acc widen(Bits b) { return b; }
  static __device__ Bits narrow(Acc a) { return a; }
};

struct I64 {
  typedef u64 Bits;
  typedef u64 Acc;
  static __device__ Acc widen(Bits b) { return b; }
  static __device__ Bits narrow(Acc a) { return a; }
};

// ---- Operations on two accumulators.

__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ u32 plus(u32 a, u32 b) { return a + b; }
__device__ __forceinline__ u64 plus(u64 a, u64 b) { return a + b; }

__device__ __forceinline__ float times(float a, double scale) { return __fmul_rn(a, (float)scale); }
__device__ __forceinline__ double times(double a, double scale) { return __dmul_rn(a, scale); }

// IEEE 754-2019: a NaN wins. Equal numbers have equal bits but for zeros, whose sign decides.
__device__ __forceinline__ float least(float a, float b) {
  float equal = __uint_as_float(__float_as_uint(a) | __float_as_uint(b));
  return a != a ? a : b != b ? b : a == b ? equal : a < b ? a : b;
}
__device__ __forceinline__ double least(double a, double b) {
  double equal = __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return a != a ? a : b != b ? b : a == b ? equal : a < b ? a : b;
}
__device__ __forceinline__ u32 least(u32 a, u32 b) { return (int)a < (int)b ? a : b; }
__device__ __forceinline__ u64 least(u64 a, u64 b) { return (i64)a < (i64)b ? a : b; }

__device__ __forceinline__ float greatest(float a, float b) {
  float equal = __uint_as_float(__float_as_uint(a) & __float_as_uint(b));
  return a != a ? a : b != b ? b : a == b ? equal : a > b ? a : b;
}
__device__ __forceinline__ double greatest(double a, double b) {
  double equal = __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return a != a ? a : b != b ? b : a == b ? equal : a > b ? a : b;
}
__device__ __forceinline__ u32 greatest(u32 a, u32 b) { return (int)a > (int)b ? a : b; }
__device__ __forceinline__ u64 greatest(u64 a, u64 b) { return (i64)a > (i64)b ? a : b; }

struct Sum {
  template <typename A> static __device__ A join(A a, A b) { return plus(a, b); }
  template <typename A> static __device__ A finish(A a, double) { return a; }
};
struct Mean {
  template <typename A> static __device__ A join(A a, A b) { return plus(a, b); }
  template <typename A> static __device__ A finish(A a, double scale) { return times(a, scale); }
};
struct Min {
  template <typename A> static __device__ A join(A a, A b) { return least(a, b); }
  template <typename A> static __device__ A finish(A a, double) { return a; }
};
struct Max {
  template <typename A> static __device__ A join(A a, A b) { return greatest(a, b); }
  template <typename A> static __device__ A finish(A a, double) { return a; }
};

typedef RF_TYPE Type;
typedef RF_OP Op;
typedef Type::Bits Bits;
typedef Type::Acc Acc;

// ---- Access: how a thread's elements are read and written. Raw is what a load brings.

template <int LANES> struct Part {
  Acc lane[LANES];
};

template <int LANES>
__device__ __forceinline__ Part<LANES> join(const Part<LANES> &a, const Part<LANES> &b) {
  Part<LANES> sum;
#pragma unroll
  for (int i = 0; i < LANES; i++) sum.lane[i] = Op::join(a.lane[i], b.lane[i]);
  return sum;
}

// 16 bytes at once, everything aligned to 16. Read once and written once: evicted first.
struct Vectors {
  static const int LANES = 16 / sizeof(Bits);
  static const int FLIGHT = RF_FLIGHT;
  typedef uint4 Raw;
  static __device__ __forceinline__ Raw load(const u8 *at) { return __ldcs((const uint4 *)at); }
  static __device__ __forceinline__ Part<LANES> widen(Raw raw) {
    Bits bits[LANES];
    memcpy(bits, &raw, 16);
    Part<LANES> part;
#pragma unroll
    for (int i = 0; i < LANES; i++) part.lane[i] = Type::widen(bits[i]);
    return part;
  }
  static __device__ __forceinline__ Raw narrow(const Part<LANES> &part) {
    Bits bits[LANES];
#pragma unroll
    for (int i = 0; i < LANES; i++) bits[i] = Type::narrow(part.lane[i]);
    Raw raw;
    memcpy(&raw, bits, 16);
    return raw;
  }
  static __device__ __forceinline__ void store(u8 *at, Raw raw) { __stcs((uint4 *)at, raw); }
};

// One element at a time, everything aligned to the element.
struct Elements {
  static const int LANES = 1;
  static const int FLIGHT = RF_FLIGHT;
  typedef Bits Raw;
  static __device__ __forceinline__ Raw load(const u8 *at) { return __ldcs((const Bits *)at); }
  static __device__ __forceinline__ Part<1> widen(Raw raw) {
    Part<1> part;
    part.lane[0] = Type::widen(raw);
    return part;
  }
  static __device__ __forceinline__ Raw narrow(const Part<1> &part) {
    return Type::narrow(part.lane[0]);
  }
  static __device__ __forceinline__ void store(u8 *at, Raw raw) { __stcs((Bits *)at, raw); }
};

// One element at a time, at any byte: right, and slow.
struct Bytes {
  static const int LANES = 1;
  static const int FLIGHT = 1;
  typedef Bits Raw;
  static __device__ __forceinline__ Raw load(const u8 *at) {
    Bits raw = 0;
#pragma unroll
    for (int i = 0; i < (int)sizeof(Bits); i++) raw |= (Bits)((Bits)at[i] << 8 * i);
    return raw;
  }
  static __device__ __forceinline__ Part<1> widen(Raw raw) { return Elements::widen(raw); }
  static __device__ __forceinline__ Raw narrow(const Part<1> &part) {
    return Elements::narrow(part);
  }
  static __device__ __forceinline__ void store(u8 *at, Raw raw) {
#pragma unroll
    for (int i = 0; i < (int)sizeof(Bits); i++) at[i] = (u8)(raw >> 8 * i);
  }
};

// ---- Orders. fixed: all addends are loaded. streamed: RF_GROUP loads in flight, any number of addends.

template <typename Access> struct Orders {
  typedef typename Access::Raw Raw;
  typedef Part<Access::LANES> P;

  template <int LO, int HI> static __device__ __forceinline__ P left(const Raw *x) {
    P acc = Access::widen(x[LO]);
#pragma unroll
    for (int r = LO + 1; r < HI; r++) acc = join(acc, Access::widen(x[r]));
    return acc;
  }

  static constexpr __device__ int below(int n) {
    int power = 1;
    while (power * 2 < n) power *= 2;
    return power;
  }

  // mid = lo + the largest power of two below hi - lo.
  template <int LO, int HI> static __device__ __forceinline__ P tree(const Raw *x) {
    if constexpr (LO + 1 == HI) {
      return Access::widen(x[LO]);
    } else {
      constexpr int MID = LO + below(HI - LO);
      return join(tree<LO, MID>(x), tree<MID, HI>(x));
    }
  }
};

struct Left {
  template <typename Access, int WORLD>
  static __device__ __forceinline__ Part<Access::LANES> fixed(const typename Access::Raw *x) {
    return Orders<Access>::template left<0, WORLD>(x);
  }

  template <typename Access>
  static __device__ __forceinline__ Part<Access::LANES> streamed(const Args &args, i64 offset) {
    typename Access::Raw x[RF_GROUP];
    Part<Access::LANES> acc = Access::widen(Access::load(args.addend[0] + offset));
    int r = 1;
    for (; r + RF_GROUP <= args.world; r += RF_GROUP) {
#pragma unroll
      for (int j = 0; j < RF_GROUP; j++) x[j] = Access::load(args.addend[r + j] + offset);
#pragma unroll
      for (int j = 0; j < RF_GROUP; j++) acc = join(acc, Access::widen(x[j]));
    }
    // What is left, fewer than RF_GROUP: again all loads first.
#pragma unroll
    for (int j = 0; j < RF_GROUP - 1; j++)
      if (r + j < args.world) x[j] = Access::load(args.addend[r + j] + offset);
#pragma unroll
    for (int j = 0; j < RF_GROUP - 1; j++)
      if (r + j < args.world) acc = join(acc, Access::widen(x[j]));
    return acc;
  }
};

// A binary counter of whole subtrees: `subtree[k]` holds one of RF_GROUP << k addends while bit k of
// the number of groups is set. What is left over stands right of all of them.
struct Tree {
  template <typename Access, int WORLD>
  static __device__ __forceinline__ Part<Access::LANES> fixed(const typename Access::Raw *x) {
    return Orders<Access>::template tree<0, WORLD>(x);
  }

  static constexpr __device__ int bits(int n) { return n == 0 ? 0 : 1 + bits(n / 2); }

  template <typename Access>
  static __device__ __forceinline__ Part<Access::LANES> streamed(const Args &args, i64 offset) {
    typedef Part<Access::LANES> P;
    typedef Orders<Access> O;
    constexpr int LEVELS = bits(RF_CAPACITY / RF_GROUP);
    typename Access::Raw x[RF_GROUP];
    P subtree[LEVELS];
    const int groups = args.world / RF_GROUP;
    for (int g = 0; g < groups; g++) {
#pragma unroll
      for (int j = 0; j < RF_GROUP; j++) x[j] = Access::load(args.addend[g * RF_GROUP + j] + offset);
      P acc = O::template tree<0, RF_GROUP>(x);
      bool carries = true;
#pragma unroll
      for (int k = 0; k < LEVELS; k++) {
        if (carries) {
          if (g >> k & 1) {
            acc = join(subtree[k], acc);
          } else {
            subtree[k] = acc;
            carries = false;
          }
        }
      }
    }
    const int rest = args.world % RF_GROUP;
    const int base = args.world - rest;
    bool any = false;
    P acc;
    if (rest & 1) {
      acc = Access::widen(Access::load(args.addend[base + (rest & 6)] + offset));
      any = true;
    }
    if (rest & 2) {
#pragma unroll
      for (int j = 0; j < 2; j++) x[j] = Access::load(args.addend[base + (rest & 4) + j] + offset);
      P two = O::template tree<0, 2>(x);
      acc = any ? join(two, acc) : two;
      any = true;
    }
    if (rest & 4) {
#pragma unroll
      for (int j = 0; j < 4; j++) x[j] = Access::load(args.addend[base + j] + offset);
      P four = O::template tree<0, 4>(x);
      acc = any ? join(four, acc) : four;
      any = true;
    }
#pragma unroll
    for (int k = 0; k < LEVELS; k++) {
      if (groups >> k & 1) {
        acc = any ? join(subtree[k], acc) : subtree[k];
        any = true;
      }
    }
    return acc;
  }
};

// ---- The loop over elements.

template <typename Access>
__device__ __forceinline__ void put(const Args &args, i64 offset, Part<Access::LANES> acc) {
#pragma unroll
  for (int i = 0; i < Access::LANES; i++) acc.lane[i] = Op::finish(acc.lane[i], args.scale);
  typename Access::Raw raw = Access::narrow(acc);
  Access::store(args.out[0] + offset, raw);
#pragma unroll 1
  for (int o = 1; o < args.outs; o++) Access::store(args.out[o] + offset, raw);
}

// Where a range's pieces lie: `n` of them from element `from` on, with a gap of `gap` elements before
// piece `head`.
struct Range {
  i64 from;
  i64 n;
  i64 head;
  i64 gap;

  template <typename Access> __device__ __forceinline__ i64 offset(i64 piece) const {
    return (from + piece * Access::LANES + (piece < head ? 0 : gap)) * (i64)sizeof(Bits);
  }
};

// All loads of a thread's pieces come before its stores: an output may be an addend.
template <typename Access>
__device__ __forceinline__ void foldRange(const Args &args, const Range range, i64 block,
                                          i64 blocks) {
#if RF_WORLD > 0
  constexpr int PIECES = RF_WORLD < Access::FLIGHT ? Access::FLIGHT / RF_WORLD : 1;
  constexpr i64 TILE = (i64)RF_BLOCK * PIECES;
  for (i64 at = block * TILE + threadIdx.x; at < range.n; at += blocks * TILE) {
    typename Access::Raw x[PIECES][RF_WORLD];
    if (at + (PIECES - 1) * RF_BLOCK < range.n) {
#pragma unroll
      for (int p = 0; p < PIECES; p++) {
        const i64 offset = range.offset<Access>(at + p * RF_BLOCK);
#pragma unroll
        for (int r = 0; r < RF_WORLD; r++) x[p][r] = Access::load(args.addend[r] + offset);
      }
#pragma unroll
      for (int p = 0; p < PIECES; p++)
        put<Access>(args, range.offset<Access>(at + p * RF_BLOCK),
                    RF_ORDER::fixed<Access, RF_WORLD>(x[p]));
    } else {
#pragma unroll 1
      for (i64 last = at; last < range.n; last += RF_BLOCK) {
        const i64 offset = range.offset<Access>(last);
#pragma unroll
        for (int r = 0; r < RF_WORLD; r++) x[0][r] = Access::load(args.addend[r] + offset);
        put<Access>(args, offset, RF_ORDER::fixed<Access, RF_WORLD>(x[0]));
      }
    }
  }
#else
  for (i64 at = block * RF_BLOCK + threadIdx.x; at < range.n; at += blocks * RF_BLOCK) {
    const i64 offset = range.offset<Access>(at);
    put<Access>(args, offset, RF_ORDER::streamed<Access>(args, offset));
  }
#endif
}

// One of some blocks folds its part of elements [from, from + n).
__device__ __forceinline__ void foldStretch(const Args &args, i64 from, i64 n, i64 block,
                                            i64 blocks) {
  if (args.access == 0) {
    foldRange<Bytes>(args, Range{from, n, n, 0}, block, blocks);
    return;
  }
  i64 head = n;
  i64 vectors = 0;
  if (args.access == 2) {
    // Every pointer is as far from a multiple of 16 as the first.
    const u64 past = ((u64)args.addend[0] + from * sizeof(Bits)) % 16;
    const i64 toAligned = past == 0 ? 0 : (16 - past) / sizeof(Bits);
    head = toAligned < n ? toAligned : n;
    vectors = (n - head) / Vectors::LANES;
    foldRange<Vectors>(args, Range{from + head, vectors, vectors, 0}, block, blocks);
  }
  const i64 body = vectors * Vectors::LANES;
  foldRange<Elements>(args, Range{from, n - body, head, body}, block, blocks);
}

#ifndef RF_PARTIAL
extern "C" __global__ void __launch_bounds__(RF_BLOCK) fold(const __grid_constant__ Args args) {
  const i64 from = (args.rank + (i64)blockIdx.y) * args.shard;
  const i64 left = args.count - from;
  const i64 n = left < args.shard ? left : args.shard;
  if (n > 0) foldStretch(args, from, n, blockIdx.x, gridDim.x);
}
#endif
