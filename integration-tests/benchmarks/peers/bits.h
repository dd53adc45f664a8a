// SPDX-License-Identifier: Apache-2.0
// Inputs whose sum depends on the order of additions, and the digest of a result: the same as in PeerBits.java. Eight
// logical addends; a process of W has 8 / W of them, one after the other, which it adds in that order before it reduces.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ADDENDS = 8, DIGESTED = 1024 };

static float addend(uint64_t rank, uint64_t i) {
  uint64_t z = rank * 0x9E3779B97F4A7C15ULL + i * 0xD1B54A32D192ED03ULL + 1;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  return ldexpf((float)((int32_t)(z & 0xffffff) - 0x800000), (int)((z >> 32) % 24) - 35);
}

static void fill_bits(float *x, long n, int world, int rank) {
  int hosted = ADDENDS / world;
  for (long i = 0; i < n; i++) {
    float s = addend((uint64_t)rank * hosted, (uint64_t)i);
    for (int r = 1; r < hosted; r++) s += addend((uint64_t)rank * hosted + r, (uint64_t)i);
    x[i] = s;
  }
}

// FNV-1a of the first 1,024 elements' bits.
static void print_bits(long bytes, const float *x) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (int i = 0; i < DIGESTED; i++) {
    uint32_t b;
    memcpy(&b, x + i, 4);
    for (int k = 0; k < 4; k++) h = (h ^ (b >> 8 * k & 0xff)) * 0x100000001b3ULL;
  }
  printf("%ld %016llx\n", bytes, (unsigned long long)h);
}
