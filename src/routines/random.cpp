// The 64-bit cipher is scalar code, as no processor multiplies vectors of 64-bit words to 128 bits.
// The normal numbers are computed in loops that the compiler vectorises for each instruction set.
#include "routines/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "device/cpu/thread_pool.h"
#include "routines/widths.h"

namespace numbus::routines {
namespace {

constexpr int kBlocks = 128;                 // blocks of the cipher at a time
constexpr int64_t kTask = int64_t{1} << 14;  // numbers of one task
constexpr int kThreads = 256;                // of a block of the device kernels
constexpr uint64_t kLow = 0xffffffff;

struct Counter {
  std::array<uint64_t, 4> word;
  void add(uint64_t n) {
    for (uint64_t& w : word) {
      w += n;
      if (w >= n) return;
      n = 1;
    }
  }
};

// The words of `count` blocks from the counter on.
void cipher(const uint64_t* key, Counter c, int count, uint64_t* out) {
  constexpr uint64_t kM0 = 0xD2E7470EE14C6C93, kM1 = 0xCA5A826395121157;
  constexpr uint64_t kW0 = 0x9E3779B97F4A7C15, kW1 = 0xBB67AE8584CAA73B;
  // Two at a time: one multiplication has to wait for the last.
  constexpr int kTogether = 2;
  for (int b = 0; b < count; b += kTogether) {
    uint64_t x[kTogether][4];
    for (int e = 0; e < kTogether; ++e) {
      std::copy_n(c.word.begin(), 4, x[e]);
      c.add(1);
    }
    uint64_t k0 = key[0], k1 = key[1];
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

void from_words(const uint64_t* raw, int64_t words, uint64_t* out) { std::copy_n(raw, words, out); }

NUMBUS_WIDTHS void from_words(const uint64_t* raw, int64_t words, double* out) {
  for (int64_t i = 0; i < words; ++i)
    out[i] = static_cast<double>(static_cast<int64_t>(raw[i] >> 11)) * 0x1p-53;
}

NUMBUS_WIDTHS void from_words(const uint64_t* raw, int64_t words, float* out) {
  const auto* halves = reinterpret_cast<const uint32_t*>(raw);
  for (int64_t i = 0; i < 2 * words; ++i)
    out[i] = static_cast<float>(static_cast<int32_t>(halves[i] >> 8)) * 0x1p-24f;
}

template <class T>
void stream(const uint64_t* state, int64_t n, T* out) {
  constexpr int64_t kEach = std::is_same_v<T, float> ? 8 : 4, kBatch = kBlocks * kEach;
  parallel_for_each((n + kBatch - 1) / kBatch, kTask / kBatch,
                    [&](int64_t begin, int64_t end, int) {
                      alignas(64) uint64_t raw[kBlocks * 4];
                      alignas(64) T made[kBatch];
                      for (int64_t b = begin; b < end; ++b) {
                        Counter c{{state[2], state[3], state[4], state[5]}};
                        c.add(static_cast<uint64_t>(b) * kBlocks);
                        cipher(state, c, kBlocks, raw);
                        const int64_t at = b * kBatch, count = std::min(kBatch, n - at);
                        if (count == kBatch) {
                          from_words(raw, kBlocks * 4, out + at);
                        } else {
                          from_words(raw, kBlocks * 4, made);
                          std::copy_n(made, count, out + at);
                        }
                      }
                    });
}

// The four words of 32 bits of each of kThreads counters, of which `third` is the third word.
NUMBUS_WIDTHS void small_cipher(uint64_t key, uint64_t counter, uint32_t third,
                                uint32_t (*out)[kThreads]) {
  constexpr uint64_t kM0 = 0xD2511F53, kM1 = 0xCD9E8D57;
  constexpr uint32_t kW0 = 0x9E3779B9, kW1 = 0xBB67AE85;
  for (int t = 0; t < kThreads; ++t) {
    uint64_t c = counter + static_cast<uint64_t>(t);
    auto c0 = static_cast<uint32_t>(c), c1 = static_cast<uint32_t>(c >> 32);
    uint32_t c2 = third, c3 = 0;
    auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      uint64_t p0 = kM0 * c0, p1 = kM1 * c2;
      c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(p1);
      c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(p0);
      k0 += kW0;
      k1 += kW1;
    }
    out[0][t] = c0, out[1][t] = c1, out[2][t] = c2, out[3][t] = c3;
  }
}

template <class T, size_t N>
inline T horner(const std::array<T, N>& coefficients, T x) {
  T total = coefficients[N - 1];
#pragma GCC unroll 16
  for (size_t k = 2; k <= N; ++k) total = std::fma(total, x, coefficients[N - k]);
  return total;
}

// a where all bits of the mask are set, b where none is: a branch would keep loops from vectors.
inline float choose(uint32_t mask, float a, float b) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(a) & mask) |
                              (std::bit_cast<uint32_t>(b) & ~mask));
}

inline double choose(uint64_t mask, double a, double b) {
  return std::bit_cast<double>((std::bit_cast<uint64_t>(a) & mask) |
                               (std::bit_cast<uint64_t>(b) & ~mask));
}

// The polynomials and the order of operations are those of pair32 and pair64 of the device kernels,
// which say what they are.
constexpr std::array<float, 10> kLogarithm = {1.0f,        -0.49999988f, 0.33333325f, -0.25001585f,
                                              0.20002072f, -0.16609126f, 0.14180079f, -0.13240843f,
                                              0.1291417f,  -0.07638592f};
constexpr std::array<float, 5> kSine = {1.5707964f, -0.6459641f, 0.07969258f, -0.0046812664f,
                                        0.00015820653f};
constexpr std::array<float, 5> kCosine = {1.0f, -1.2337005f, 0.25366920f, -0.02086007f,
                                          0.00090362987f};

NUMBUS_WIDTHS void pairs(const uint32_t* radius, const uint32_t* angle, float* x, float* y) {
  for (int t = 0; t < kThreads; ++t) {
    const uint32_t w = radius[t] | 1, v = angle[t];
    // Rounded once, as the conversion of an unsigned number, which SSE and AVX2 have not.
    const float whole = std::fma(static_cast<float>(static_cast<int32_t>(w >> 16)), 65536.0f,
                                 static_cast<float>(static_cast<int32_t>(w & 0xffff)));
    const auto bits = std::bit_cast<int32_t>(whole);
    const int32_t above = (bits - 0x3F3504F4) & -(1 << 23);
    const float s = std::bit_cast<float>(bits - above) - 1.0f;
    const auto e = static_cast<float>((32 << 23) - above);
    const float logarithm = horner(kLogarithm, s) * s;
    constexpr auto kLn2 = static_cast<float>(0.69314718055994530942 * 0x1p-23);
    const float r = std::sqrt(2.0f * std::fma(e, kLn2, -logarithm));
    const float q = static_cast<float>(static_cast<int32_t>(v << 2)) * 0x1p-32f, z = q * q;
    const uint32_t octant = v + (1u << 29);
    const float sine = horner(kSine, z) * q, cosine = horner(kCosine, z);
    const float signed_r = std::bit_cast<float>(std::bit_cast<uint32_t>(r) ^ (octant & (1u << 31)));
    const uint32_t odd = -(octant >> 30 & 1);
    x[t] = signed_r * choose(odd, -sine, cosine);
    y[t] = signed_r * choose(odd, cosine, sine);
  }
}

constexpr std::array<double, 9> kLogarithm64 = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9, 2.0 / 11,
                                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19};
constexpr std::array<double, 7> kSine64 = {
    -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
    -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
constexpr std::array<double, 8> kCosine64 = {
    -0.5,           1.0 / 24,        -1.0 / 720,         1.0 / 40320,
    -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
constexpr uint64_t kOne = 0x3ff0000000000000;

NUMBUS_WIDTHS void pairs(const uint32_t (*words)[kThreads], double* x, double* y) {
  for (int t = 0; t < kThreads; ++t) {
    const uint64_t radius = static_cast<uint64_t>(words[0][t]) << 32 | words[1][t];
    const uint64_t angle = static_cast<uint64_t>(words[2][t]) << 32 | words[3][t];
    const double u = std::bit_cast<double>(radius >> 12 | kOne) - (1.0 - 0x1p-53);
    const uint64_t biased =
        std::bit_cast<uint64_t>(u) - 0x3fe6a09e667f3bcd + (uint64_t{2048} << 52);
    // The exponent by way of the bits of a double: AVX2 has no conversion from 64 bits.
    const double e = std::bit_cast<double>(biased >> 52 | 0x4330000000000000) - (0x1p52 + 2048.0);
    const uint64_t power = (biased >> 52 << 52) - (uint64_t{2048} << 52);
    const double m = std::bit_cast<double>(std::bit_cast<uint64_t>(u) - power);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    const double logarithm = std::fma(s * z, horner(kLogarithm64, z), 2.0 * s);
    const double full = std::fma(e, 0.69314718055994530942, logarithm);
    const double r = std::sqrt(std::max(0.0, -2.0 * full));
    const uint64_t octant = angle + (uint64_t{1} << 61);
    // 52 bits of the angle within its quarter, in [-1/2, 1/2).
    const double part = std::bit_cast<double>(octant << 2 >> 12 | kOne) - 1.5;
    const double a = part * 1.57079632679489661923, q = a * a;
    const double sine = std::fma(a * q, horner(kSine64, q), a);
    const double cosine = std::fma(q, horner(kCosine64, q), 1.0);
    const double signed_r =
        std::bit_cast<double>(std::bit_cast<uint64_t>(r) ^ (octant & (uint64_t{1} << 63)));
    const uint64_t odd = -(octant >> 62 & 1);
    x[t] = signed_r * choose(odd, -sine, cosine);
    y[t] = signed_r * choose(odd, cosine, sine);
  }
}

// What a block of the device kernels makes.
void normals(uint64_t key, uint64_t counter, float* out) {
  uint32_t words[4][kThreads];
  for (int half = 0; half < 2; ++half, out += 4 * kThreads) {
    small_cipher(key, counter + static_cast<uint64_t>(half) * kThreads, 0, words);
    pairs(words[0], words[1], out, out + kThreads);
    pairs(words[2], words[3], out + 2 * kThreads, out + 3 * kThreads);
  }
}

void normals(uint64_t key, uint64_t counter, double* out) {
  uint32_t words[4][kThreads];
  small_cipher(key, counter, 1, words);
  pairs(words, out, out + kThreads);
}

template <class T>
void normals(const uint64_t* state, int64_t n, T* out) {
  constexpr int64_t kBatch = (std::is_same_v<T, float> ? 8 : 2) * kThreads;
  constexpr uint64_t kCounters = (std::is_same_v<T, float> ? 2 : 1) * kThreads;
  parallel_for_each((n + kBatch - 1) / kBatch, kTask / kBatch,
                    [&](int64_t begin, int64_t end, int) {
                      alignas(64) T made[kBatch];
                      for (int64_t b = begin; b < end; ++b) {
                        const int64_t at = b * kBatch, count = std::min(kBatch, n - at);
                        const bool whole = count == kBatch;
                        normals(state[0], state[1] + static_cast<uint64_t>(b) * kCounters,
                                whole ? out + at : made);
                        if (!whole) std::copy_n(made, count, out + at);
                      }
                    });
}

}  // namespace

void philox(DType t, const uint64_t* state, int64_t n, void* out) {
  if (t == DType::F32) return stream(state, n, static_cast<float*>(out));
  if (t == DType::F64) return stream(state, n, static_cast<double*>(out));
  stream(state, n, static_cast<uint64_t*>(out));
}

void philox_normal(DType t, const uint64_t* state, int64_t n, void* out) {
  if (t == DType::F32) return normals(state, n, static_cast<float*>(out));
  normals(state, n, static_cast<double*>(out));
}

int64_t philox_normal_blocks(DType t, int64_t n) {
  const int64_t each = kThreads * (t == DType::F32 ? 4 : 2);
  return (n + each - 1) / each * kThreads;
}

}  // namespace numbus::routines
