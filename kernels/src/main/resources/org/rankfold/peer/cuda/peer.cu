// SPDX-License-Identifier: Apache-2.0
//
// Collectives of ranks that reach one another's memory: the mapped path, the one-shot path and pure
// movement, behind device-side barriers. docs/spec/device-barrier.md says the protocol.
//
// Stands behind fold.cu, where every addition is written; here nothing is added. Options as there, and
//   RF_MOVE      set for the kernel that moves instead of the one that folds
//   RF_FAULTS    set in tests only: ranks that leave words out, and delays
//
// A launch holds blocks of one rank (gridDim.y = 1) or, on one device, of all ranks. All its blocks must be
// resident at once. No pointer here is __restrict__ and no load is non-coherent: peers write this memory.

#define RF_RANKS 8
#define RF_LINE 128
#define RF_PUSH_BLOCKS 64

// One rank's words. A line of words holds one of 8 bytes for each rank, and is there once for each parity.
#define AT_SEQUENCE 0    // calls this rank has finished
#define AT_BLOCKS 128    // blocks of the call that are done; those that failed count 65536 more
#define AT_REFUSED 256   // the call at which this rank refused, for ever; 8 on, the same once reported
#define AT_GATE 384      // by parity: 2 * call when entered, 2 * call + 1 when withdrawn
#define AT_START 640     // by parity
#define AT_END 896       // by parity
#define AT_PUSHED 1152   // by parity and block

enum Verdict { FINE, FOLLOWS, BROKEN, WITHDRAWN, PEER_REFUSED, DIFFERS, AHEAD, EXPIRED };
enum Phase { NO_PHASE, START, PUSHED, END };
enum Outcome { UNTOUCHED, PARTLY_WRITTEN, STILL_INSIDE };
enum Kind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST };

// Mirrored by PeerArguments.java.
struct Peers {
  i64 timeoutNs;            // 0    how long a start or pushed word may take
  i64 count;                // 8    elements of the whole; all-gather: of one logical rank's row
  double scale;             // 16   as in Args
  u64 seed;                 // 24   RF_FAULTS: delays where not 0
  i64 chunk;                // 32   one-shot: elements of a block, a multiple of 16 bytes; 0: mapped
  i64 slotBytes;            // 40   one-shot: room for one addend
  i64 setBytes;             // 48   one-shot: room for all, once for each parity
  u32 hash;                 // 56   of everything that must be alike on all ranks
  int ranks;                // 60   at most RF_RANKS
  int rank;                 // 64   the rank of blockIdx.y = 0
  int world;                // 68   logical ranks, at least as many
  int access;               // 72   as in Args
  int kind;                 // 76
  int root;                 // 80   broadcast: the logical rank
  int elementBytes;         // 84
  int fault;                // 88   RF_FAULTS: what is left out
  int faultRank;            // 92   by whom
  int faultPeer;            // 96   towards whom
  int delayNs;              // 100  the longest delay
  i64 bound[RF_RANKS + 1];  // 104  rank r's elements are [bound[r], bound[r + 1])
  int first[RF_RANKS + 1];  // 176  rank r's logical ranks are [first[r], first[r + 1])
  int endTimeoutMs;         // 212  how long an end word may take: nobody can be told to give that up
  u8 *words[RF_RANKS];      // 216  every rank's, as this rank sees them; likewise below
  u8 *staging[RF_RANKS];    // 280
  u8 *report[RF_RANKS];     // 344  pinned memory of the host: this rank's, or all in a launch of all
  u8 *out[RF_RANKS];        // 408
  const u8 *addend[RF_CAPACITY];  // 472  by logical rank
};

// ---- Words.

__device__ __forceinline__ u64 acquire(const u8 *at) {
  u64 word;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}

__device__ __forceinline__ void release(u8 *at, u64 word) {
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}

// What was there; `desired` is there afterwards where that was `expected`.
__device__ __forceinline__ u64 exchange(u8 *at, u64 expected, u64 desired) {
  u64 was;
  asm volatile("atom.acq_rel.sys.cas.b64 %0, [%1], %2, %3;"
               : "=l"(was)
               : "l"(at), "l"(expected), "l"(desired)
               : "memory");
  return was;
}

// Counts a block that is done. Where peers may see what the rank's blocks stored, each block's stores come
// before its count, and all of them before what the last block does next.
__device__ __forceinline__ u32 countUp(u8 *at, u32 by, bool isOrdered) {
  u32 was;
  if (isOrdered) {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    asm volatile("atom.acq_rel.sys.add.u32 %0, [%1], %2;" : "=r"(was) : "l"(at), "r"(by) : "memory");
  } else {
    asm volatile("atom.relaxed.gpu.add.u32 %0, [%1], %2;" : "=r"(was) : "l"(at), "r"(by) : "memory");
  }
  return was;
}

__device__ __forceinline__ u64 nowNs() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

// ---- One block's part in a call.

__shared__ int verdict;          // the worst of this block's
__shared__ int culprit;          // a rank that it is about
__shared__ u64 seenWord;         // and that rank's word
__shared__ u32 missing;          // ranks whose words did not come in time
__shared__ u32 entered;          // ranks that had entered a call this one withdrew from
__shared__ u32 inside;           // those of them that did not leave in time
__shared__ int isLast;           // this block is the rank's last
__shared__ u32 failed;           // how many blocks failed, known to the last

struct Call {
  u8 *own;      // this rank's words
  u64 number;   // of the call, from 1
  u64 word;     // the call's number and its hash
  int parity;
  int rank;
};

__device__ __forceinline__ u8 *lineOf(u8 *words, int at, const Call &call, int block = 0) {
  const int lines = at == AT_PUSHED ? RF_PUSH_BLOCKS : 1;
  return words + at + (call.parity * lines + block) * RF_LINE;
}

#ifdef RF_FAULTS
enum Fault { NONE, NO_START_WORD, NO_END_WORD, OTHER_HASH, NO_PUSH, LATE, DIES, BLIND, BLIND_TO_DEAD };
__device__ __forceinline__ bool hasFault(const Peers &p, const Call &call, int fault) {
  return p.fault == fault && p.faultRank == call.rank;
}
__device__ void sleepNs(u64 ns) {
  const u64 from = nowNs();
  while (nowNs() - from < ns) {
  }
}
__device__ void delay(const Peers &p, const Call &call, int phase) {
  if (p.seed == 0) return;
  u64 z = p.seed + call.number * 0x9E3779B97F4A7C15ull + call.rank * 8191 + blockIdx.x * 131 + phase;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  if (z >> 63) sleepNs((z ^ z >> 31) % (u64)(p.delayNs + 1));
}
// Whether this rank never sees a start word that is there.
__device__ __forceinline__ bool isBlind(const Peers &p, const Call &call, const u8 *at) {
  return (hasFault(p, call, BLIND) || hasFault(p, call, BLIND_TO_DEAD)) &&
         at == lineOf(call.own, AT_START, call) + 8 * p.faultPeer;
}
__device__ __forceinline__ bool dies(const Peers &p, const Call &call) {
  return hasFault(p, call, DIES) || (p.fault == BLIND_TO_DEAD && p.faultPeer == call.rank);
}
#else
#define NO_START_WORD 0
#define NO_END_WORD 0
#define NO_PUSH 0
#define hasFault(p, call, fault) false
#define isBlind(p, call, at) false
#define dies(p, call) false
#define delay(p, call, phase)
#endif

// The call that this launch is, the same for every block of a rank: the rank's last block counts on only
// when all have read. False where the rank has refused before.
__device__ __forceinline__ bool begin(const Peers &p, Call &call) {
  call.rank = p.rank + blockIdx.y;
  call.own = p.words[call.rank];
  call.number = *(volatile u64 *)(call.own + AT_SEQUENCE) + 1;
  call.parity = (int)(call.number & 1);
  call.word = call.number << 32 | p.hash;
#ifdef RF_FAULTS
  if (hasFault(p, call, OTHER_HASH)) call.word ^= 1;
  if (hasFault(p, call, LATE)) sleepNs(p.delayNs);
#endif
  if (threadIdx.x == 0) {
    verdict = *(volatile u64 *)(call.own + AT_REFUSED) == 0 ? FINE : BROKEN;
    culprit = -1;
    seenWord = 0;
    missing = entered = inside = 0;
  }
  __syncthreads();
  const bool isFine = verdict == FINE;
  __syncthreads();
  return isFine;
}

// Waits for one rank's word of this call. A word that is there wins over an expiry.
__device__ int await(const Peers &p, const Call &call, const u8 *at, bool isPatient, u64 *seen) {
  const u64 from = nowNs();
  const i64 timeoutNs = isPatient ? p.endTimeoutMs * 1000000ll : p.timeoutNs;
  for (u32 polls = 1;; polls++) {
    const u64 word = isBlind(p, call, at) ? 0 : acquire(at);
    *seen = word;
    const int ahead = (int)((u32)(word >> 32) - (u32)call.number);
    if (ahead > 0) return AHEAD;
    if (ahead == 0) return word == call.word ? FINE : word == (call.word ^ 0xffffffffull) ? PEER_REFUSED : DIFFERS;
    if (polls % 32 == 0) {
      const int others = *(volatile int *)&verdict;
      if (!isPatient && (others == DIFFERS || others == AHEAD)) return FOLLOWS;
      if (!isPatient && *(volatile u64 *)(call.own + AT_REFUSED) != 0) return FOLLOWS;
      if ((i64)(nowNs() - from) > timeoutNs) return EXPIRED;
    }
  }
}

// Waits for all ranks' words of a line, one thread a rank, and joins what they found.
__device__ void meet(const Peers &p, const Call &call, const u8 *line, bool isPatient) {
  if (threadIdx.x < p.ranks) {
    u64 seen;
    const int code = await(p, call, line + 8 * threadIdx.x, isPatient, &seen);
    if (code == EXPIRED) atomicOr(&missing, 1u << threadIdx.x);
    if (code != FINE) {
      if (code >= atomicMax(&verdict, code)) {
        culprit = threadIdx.x;
        seenWord = seen;
      }
    }
  }
  __syncthreads();
}

// Settles, once and for all, whether a rank enters a call. Says what was settled.
__device__ u64 settle(u8 *gate, u64 number, bool enters) {
  const u64 desired = 2 * number + (enters ? 0 : 1);
  u64 old = number > 2 ? 2 * (number - 2) : 0;
  for (;;) {
    const u64 was = exchange(gate, old, desired);
    if (was == old) return desired;
    if (was >> 1 >= number) return was;
    old = was;
  }
}

// The first block of a rank that fails keeps its reason, and no later call of the rank begins.
__device__ void refuse(const Peers &p, const Call &call, int phase) {
  if (exchange(call.own + AT_REFUSED, 0, call.number) == 0) {
    volatile u32 *report = (volatile u32 *)p.report[call.rank];
    report[1] = (u32)verdict;
    report[2] = (u32)phase;
    report[3] = (u32)culprit;
    report[4] = missing;
    ((volatile u64 *)report)[4] = call.number;
    ((volatile u64 *)report)[5] = seenWord;
    ((volatile u64 *)report)[6] = call.word;
  }
}

// Ends the wait of a phase: a rank with a gate enters with all of its blocks or with none.
__device__ void conclude(const Peers &p, const Call &call, int phase, bool isGated) {
  if (threadIdx.x == 0) {
    if (isGated) {
      const u64 settled = settle(lineOf(call.own, AT_GATE, call), call.number, verdict == FINE);
      if (settled == 2 * call.number) {
        verdict = FINE;  // another block of this rank saw every word
        missing = 0;
      } else if (verdict == FINE) {
        verdict = WITHDRAWN;
      }
    }
    if (verdict != FINE) refuse(p, call, phase);
  }
  __syncthreads();
}

// The start barrier of a mapped call: behind it every rank's memory may be read and written.
__device__ void start(const Peers &p, const Call &call) {
  delay(p, call, 1);
  if (blockIdx.x == 0 && threadIdx.x < p.ranks && !hasFault(p, call, NO_START_WORD))
    release(lineOf(p.words[threadIdx.x], AT_START, call) + 8 * call.rank, call.word);
  meet(p, call, lineOf(call.own, AT_START, call), false);
  conclude(p, call, START, true);
  delay(p, call, 2);
}

// What a rank whose blocks failed does for its peers: keeps them from entering, tells them, and waits for
// those that are inside.
__device__ void withdraw(const Peers &p, const Call &call) {
  if (threadIdx.x < p.ranks && threadIdx.x != call.rank) {
    u8 *peer = p.words[threadIdx.x];
    const u64 settled = settle(lineOf(peer, AT_GATE, call), call.number, false);
    release(lineOf(peer, AT_END, call) + 8 * call.rank, call.word ^ 0xffffffffull);
    if (settled == 2 * call.number) {
      u64 seen;
      atomicOr(&entered, 1u << threadIdx.x);
      const int code =
          await(p, call, lineOf(call.own, AT_END, call) + 8 * threadIdx.x, true, &seen);
      if (code != FINE && code != PEER_REFUSED) atomicOr(&inside, 1u << threadIdx.x);
    }
  }
  __syncthreads();
}

// The end of a block. The rank's last one keeps the end barrier, where there is one, and counts the call.
__device__ void leave(const Peers &p, const Call &call, bool isMapped) {
  delay(p, call, 3);
  __syncthreads();
  if (threadIdx.x == 0) {
    const u32 isFailed = verdict == FINE ? 0 : 1;
    u32 was = 0;
    if (gridDim.x > 1) was = countUp(call.own + AT_BLOCKS, 1 + (isFailed << 16), isMapped || isFailed);
    isLast = (was & 0xffff) + 1 == gridDim.x;
    failed = (was >> 16) + isFailed;
  }
  __syncthreads();
  if (!isLast) return;
  int outcome = UNTOUCHED;
  if (isMapped && failed == 0) {
    if (threadIdx.x < p.ranks && !hasFault(p, call, NO_END_WORD))
      release(lineOf(p.words[threadIdx.x], AT_END, call) + 8 * call.rank, call.word);
    meet(p, call, lineOf(call.own, AT_END, call), true);
    conclude(p, call, END, false);
    outcome = missing != 0 ? STILL_INSIDE : PARTLY_WRITTEN;
  } else if (isMapped && *(volatile u64 *)(call.own + AT_REFUSED + 8) == 0) {
    withdraw(p, call);
    outcome = inside != 0 ? STILL_INSIDE : entered != 0 ? PARTLY_WRITTEN : UNTOUCHED;
  } else if (failed < gridDim.x) {
    outcome = PARTLY_WRITTEN;
  }
  if (threadIdx.x == 0) {
    if (gridDim.x > 1) *(volatile u32 *)(call.own + AT_BLOCKS) = 0;
    if (failed == 0 && verdict == FINE) {
      *(volatile u64 *)(call.own + AT_SEQUENCE) = call.number;
    } else if (*(volatile u64 *)(call.own + AT_REFUSED + 8) == 0) {
      *(volatile u64 *)(call.own + AT_REFUSED + 8) = call.number;
      u8 *report = p.report[call.rank];
      ((volatile u32 *)report)[5] = entered;
      ((volatile u32 *)report)[6] = inside;
      ((volatile u32 *)report)[7] = (u32)outcome;
      release(report + 56, call.number);
    }
  }
}

// ---- Movement: bytes, to some places at once.

struct Places {
  int n;
  u8 *at[RF_RANKS];
};
__shared__ Places places;

template <typename V>
__device__ __forceinline__ void spreadBy(const u8 *from, i64 offset, i64 n, i64 block, i64 blocks) {
  const i64 step = blocks * RF_BLOCK;
  i64 i = block * RF_BLOCK + threadIdx.x;
  for (; i + 3 * step < n; i += 4 * step) {
    V v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = ((const V *)(from + offset))[i + k * step];
    for (int j = 0; j < places.n; j++) {
#pragma unroll
      for (int k = 0; k < 4; k++) ((V *)(places.at[j] + offset))[i + k * step] = v[k];
    }
  }
  for (; i < n; i += step) {
    const V v = ((const V *)(from + offset))[i];
    for (int j = 0; j < places.n; j++) ((V *)(places.at[j] + offset))[i] = v;
  }
}

// Copies bytes to every place but the source itself; the whole block calls.
__device__ void spread(const Peers &p, const Call &call, const u8 *from, u8 *const *bases, i64 shift,
                       i64 bytes, i64 block, i64 blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    places.n = 0;
    for (int j = 0; j < p.ranks; j++) {
      const int peer = (call.rank + j) % p.ranks;
      u8 *to = bases[peer] + shift;
      if (to != from && !(hasFault(p, call, NO_PUSH) && peer == p.faultPeer)) places.at[places.n++] = to;
    }
  }
  __syncthreads();
  u64 bits = (u64)from;
  for (int j = 0; j < places.n; j++) bits |= (u64)places.at[j];
  i64 done = 0;
  if (bits % 16 == 0) {
    spreadBy<uint4>(from, 0, bytes / 16, block, blocks);
    done = bytes / 16 * 16;
  } else if (bits % 4 == 0) {
    spreadBy<u32>(from, 0, bytes / 4, block, blocks);
    done = bytes / 4 * 4;
  }
  spreadBy<u8>(from, done, bytes - done, block, blocks);
}

#ifdef RF_MOVE
extern "C" __global__ void __launch_bounds__(RF_BLOCK) peers(const __grid_constant__ Peers p) {
  Call call;
  if (begin(p, call)) {
    start(p, call);
    if (verdict == FINE) {
      if (p.kind == BROADCAST) {
        const i64 shift = p.bound[call.rank] * p.elementBytes;
        const i64 bytes = p.bound[call.rank + 1] * p.elementBytes - shift;
        spread(p, call, p.addend[p.root] + shift, p.out, shift, bytes, blockIdx.x, gridDim.x);
      } else {
        const i64 bytes = p.count * p.elementBytes;
        for (int l = p.first[call.rank]; l < p.first[call.rank + 1]; l++)
          spread(p, call, p.addend[l], p.out, l * bytes, bytes, blockIdx.x, gridDim.x);
      }
    }
  }
  leave(p, call, true);
}
#else
// What is folded, filled in behind the barrier: no load can have come before it.
__shared__ Args args;

extern "C" __global__ void __launch_bounds__(RF_BLOCK) peers(const __grid_constant__ Peers p) {
  Call call;
  const bool isMapped = p.chunk == 0;
  i64 from = 0;
  i64 n = 0;
  if (begin(p, call)) {
    if (isMapped) {
      start(p, call);
      from = p.bound[call.rank];
      n = p.bound[call.rank + 1] - from;
    } else {
      const i64 set = call.parity * p.setBytes;
      from = blockIdx.x * p.chunk;
      n = p.count - from < p.chunk ? p.count - from : p.chunk;
      delay(p, call, 1);
      for (int l = p.first[call.rank]; l < p.first[call.rank + 1]; l++)
        spread(p, call, p.addend[l] + from * p.elementBytes, p.staging,
               set + l * p.slotBytes + from * p.elementBytes, n * p.elementBytes, 0, 1);
      __syncthreads();
      delay(p, call, 2);
      if (threadIdx.x < p.ranks && !hasFault(p, call, NO_START_WORD))
        release(lineOf(p.words[threadIdx.x], AT_PUSHED, call, blockIdx.x) + 8 * call.rank, call.word);
      meet(p, call, lineOf(call.own, AT_PUSHED, call, blockIdx.x), false);
      conclude(p, call, PUSHED, false);
    }
    if (dies(p, call)) return;
    if (verdict == FINE && n > 0) {
      const u8 *slots = p.staging[call.rank] + call.parity * p.setBytes;
      for (int l = threadIdx.x; l < p.world; l += RF_BLOCK)
        args.addend[l] = isMapped ? p.addend[l] : slots + l * p.slotBytes;
      if (threadIdx.x == 0) {
        args.scale = p.scale;
        args.world = p.world;
        args.access = p.access;
        args.outs = 0;
        if (!isMapped) {
          args.out[args.outs++] = p.out[call.rank];
        } else if (p.kind == REDUCE_SCATTER) {
          args.out[args.outs++] = p.out[call.rank] - from * p.elementBytes;
        } else {
          for (int j = 0; j < p.ranks; j++) {
            const int peer = (call.rank + j) % p.ranks;
            if (!(hasFault(p, call, NO_PUSH) && peer == p.faultPeer)) args.out[args.outs++] = p.out[peer];
          }
        }
      }
      __syncthreads();
      foldStretch(args, from, n, isMapped ? blockIdx.x : 0, isMapped ? gridDim.x : 1);
    }
  }
  leave(p, call, isMapped);
}
#endif
