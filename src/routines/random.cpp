// The cipher in scalar code (no processor multiplies vectors of 64 bits to 128), the normals in
// loops that the compiler turns into vector code, once for each width.
#include "routines/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "device/cpu/thread_pool.h"
#include "routines/widths.h"

namespace numbus::routines {
namespace {

constexpr int64_t kChunk = int64_t{1} << 14;  // numbers of one task
constexpr int kBlocks = 128;                  // blocks of the cipher at a time

struct Counter {
  uint64_t word[4];
  void add(uint64_t n) {
    for (uint64_t& w : word) {
      w += n;
      if (w >= n) return;
      n = 1;
    }
  }
};

// The blocks of counter + 1 + block and those after it.
void cipher(const Philox& philox, uint64_t block, int count, uint64_t* out) {
  Counter c{{philox.counter[0], philox.counter[1], philox.counter[2], philox.counter[3]}};
  c.add(1);
  c.add(block);
  constexpr uint64_t kM0 = 0xD2E7470EE14C6C93, kM1 = 0xCA5A826395121157;
  constexpr uint64_t kW0 = 0x9E3779B97F4A7C15, kW1 = 0xBB67AE8584CAA73B;
  // Two at a time: one multiplication has to wait for the last.
  constexpr int kTogether = 2;
  for (int b = 0; b < count; b += kTogether) {
    uint64_t x[kTogether][4];
    for (int e = 0; e < kTogether; ++e) {
      std::copy_n(c.word, 4, x[e]);
      c.add(1);
    }
    uint64_t k0 = philox.key[0], k1 = philox.key[1];
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 2
      for (int e = 0; e < kTogether; ++e) {
        auto p0 = static_cast<unsigned __int128>(x[e][0]) * kM0;
        auto p1 = static_cast<unsigned __int128>(x[e][2]) * kM1;
        uint64_t y0 = static_cast<uint64_t>(p1 >> 64) ^ x[e][1] ^ k0;
        uint64_t y2 = static_cast<uint64_t>(p0 >> 64) ^ x[e][3] ^ k1;
        x[e][1] = static_cast<uint64_t>(p1);
        x[e][3] = static_cast<uint64_t>(p0);
        x[e][0] = y0;
        x[e][2] = y2;
      }
      k0 += kW0;
      k1 += kW1;
    }
    for (int e = 0; e < std::min(kTogether, count - b); ++e)
      std::copy_n(x[e], 4, out + 4 * (b + e));
  }
}

// Numbers [first, first + n) of a stream of which each block of the cipher gives kEach; fill(raw,
// made, blocks) makes them.
template <int kEach, class T, class Fill>
void generate(const Philox& philox, uint64_t first, int64_t n, T* out, const Fill& fill) {
  parallel_for_each(n, kChunk, [&](int64_t begin, int64_t end, int) {
    alignas(64) uint64_t raw[kBlocks * 4];
    alignas(64) T made[kBlocks * kEach];
    for (int64_t i = begin; i < end;) {
      uint64_t at = first + static_cast<uint64_t>(i);
      auto skip = static_cast<int64_t>(at % kEach);
      int64_t count = std::min<int64_t>(kBlocks * kEach - skip, end - i);
      auto blocks = static_cast<int>((skip + count + kEach - 1) / kEach);
      cipher(philox, at / kEach, blocks, raw);
      fill(raw, made, blocks);
      std::copy_n(made + skip, count, out + i);
      i += count;
    }
  });
}

// Words of 32 bits, two of each number: (x + 1/2) / 2^32, in (0, 1].
NUMBUS_WIDTHS void normals(const uint64_t* raw, float* out, int count) {
  for (int i = 0; i < count; ++i) {
    auto low = static_cast<uint32_t>(raw[i]);
    auto angle = static_cast<int32_t>(raw[i] >> 32);
    // In two halves: SSE and AVX2 convert signed numbers only.
    float u = static_cast<float>(static_cast<int32_t>(low >> 16)) * 65536.0f +
              (static_cast<float>(static_cast<int32_t>(low & 0xffff)) + 0.5f);
    u *= 0x1p-32f;
    // log(u): u = 2^e * m, m in [sqrt(1/2), sqrt(2)), log(m) = 2 atanh(s), s = (m - 1) / (m + 1).
    int32_t bits = std::bit_cast<int32_t>(u);
    int32_t e = (bits - 0x3f3504f3) >> 23;
    float m = std::bit_cast<float>(bits - e * (1 << 23));
    float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    float log_m =
        2.0f * s + s * z * (0.6666666667f + z * (0.4f + z * (0.2857142857f + z * 0.2222222f)));
    float log_u = static_cast<float>(e) * 0.69314718056f + log_m;
    float radius = std::sqrt(std::max(0.0f, -2.0f * log_u));
    // The angle in quarters of a circle, and the rest of it in [-1/2, 1/2) quarters.
    uint32_t shifted = static_cast<uint32_t>(angle) + (1u << 29);
    uint32_t quarter = shifted >> 30;
    int32_t rest = static_cast<int32_t>((shifted & 0x3fffffff)) - (1 << 29);
    float r = static_cast<float>(rest) * (1.57079632679f * 0x1p-30f), q = r * r;
    float sine =
        r +
        r * q * (-0.1666666667f + q * (0.00833333333f + q * (-0.000198412698f + q * 2.75573e-6f)));
    float cosine =
        1.0f + q * (-0.5f + q * (0.0416666667f + q * (-0.00138888889f + q * 2.48015873e-5f)));
    bool swap = quarter & 1;
    float c = swap ? sine : cosine, d = swap ? cosine : sine;
    // cos is negative in quarters 1 and 2, sin in 2 and 3.
    uint32_t c_sign = ((quarter + 1) & 2) << 30, d_sign = (quarter & 2) << 30;
    out[2 * i] = radius * std::bit_cast<float>(std::bit_cast<uint32_t>(c) ^ c_sign);
    out[2 * i + 1] = radius * std::bit_cast<float>(std::bit_cast<uint32_t>(d) ^ d_sign);
  }
}

// 52 bits of a word as a double in [1, 2): the same conversion on every instruction set.
inline double in_one_to_two(uint64_t word) {
  return std::bit_cast<double>((word >> 12) | 0x3ff0000000000000);
}

NUMBUS_WIDTHS void normals(const uint64_t* raw, double* out, int count) {
  for (int i = 0; i < count; ++i) {
    uint64_t angle = raw[2 * i + 1];
    // (x + 1/2) / 2^52, in (0, 1).
    double u = in_one_to_two(raw[2 * i]) - (1.0 - 0x1p-53);
    uint64_t bits = std::bit_cast<uint64_t>(u);
    uint64_t biased = bits - 0x3fe6a09e667f3bcd + (uint64_t{2048} << 52);
    // The exponent by way of the bits of a double: AVX2 has no conversion from 64 bits.
    double e = std::bit_cast<double>((biased >> 52) | 0x4330000000000000) - (0x1p52 + 2048.0);
    uint64_t power = (biased >> 52 << 52) - (uint64_t{2048} << 52);
    double m = std::bit_cast<double>(bits - power);
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double log_m =
        2.0 * s +
        s * z *
            (2.0 / 3 +
             z * (2.0 / 5 +
                  z * (2.0 / 7 +
                       z * (2.0 / 9 +
                            z * (2.0 / 11 +
                                 z * (2.0 / 13 +
                                      z * (2.0 / 15 + z * (2.0 / 17 + z * (2.0 / 19)))))))));
    double log_u = e * 0.693147180559945309417 + log_m;
    double radius = std::sqrt(std::max(0.0, -2.0 * log_u));
    uint64_t shifted = angle + (uint64_t{1} << 61);
    uint64_t quarter = shifted >> 62;
    // 52 bits of the angle within its quarter, in [-1/2, 1/2).
    double rest = in_one_to_two(shifted << 2) - 1.5;
    double r = rest * 1.57079632679489661923, q = r * r;
    double sine =
        r +
        r * q *
            (-1.0 / 6 +
             q * (1.0 / 120 +
                  q * (-1.0 / 5040 + q * (1.0 / 362880 + q * (-1.0 / 39916800 +
                                                              q * (1.0 / 6227020800 +
                                                                   q * (-1.0 / 1307674368000)))))));
    double cosine =
        1.0 +
        q * (-0.5 + q * (1.0 / 24 +
                         q * (-1.0 / 720 +
                              q * (1.0 / 40320 + q * (-1.0 / 3628800 +
                                                      q * (1.0 / 479001600 +
                                                           q * (-1.0 / 87178291200 +
                                                                q * (1.0 / 20922789888000))))))));
    bool swap = quarter & 1;
    double c = swap ? sine : cosine, d = swap ? cosine : sine;
    uint64_t c_sign = ((quarter + 1) & 2) << 62, d_sign = (quarter & 2) << 62;
    out[2 * i] = radius * std::bit_cast<double>(std::bit_cast<uint64_t>(c) ^ c_sign);
    out[2 * i + 1] = radius * std::bit_cast<double>(std::bit_cast<uint64_t>(d) ^ d_sign);
  }
}

}  // namespace

void Philox::raw(uint64_t first, int64_t n, uint64_t* out) const {
  generate<4>(*this, first, n, out, [](const uint64_t* raw, uint64_t* made, int blocks) {
    std::copy_n(raw, blocks * 4, made);
  });
}

void Philox::normal(uint64_t first, int64_t n, float* out) const {
  generate<8>(*this, first, n, out,
              [](const uint64_t* raw, float* made, int blocks) { normals(raw, made, blocks * 4); });
}

void Philox::normal(uint64_t first, int64_t n, double* out) const {
  generate<4>(*this, first, n, out, [](const uint64_t* raw, double* made, int blocks) {
    normals(raw, made, blocks * 2);
  });
}

}  // namespace numbus::routines
