// One line's order, by kind of key: what argsort and argpartition share, and sorts that must know
// where each element came from.
#pragma once

#include <cstdint>
#include <limits>

#include "routines/keys.h"
#include "routines/vqsort.h"

namespace numbus::routines {

// A key and an index below 2^32 in one number: types of up to 32 bits.
template <class T>
struct PackedKeys {
  using K = int64_t;
  const T* in;
  bool descending;
  K operator()(int64_t i) const {
    int64_t key = order_key(in[i]);
    return static_cast<int64_t>(static_cast<uint64_t>(descending ? ~key : key) << 32) | i;
  }
  static int64_t index(K key) { return key & 0xffffffff; }
};

// The order of 64-bit keys as that of unsigned numbers.
constexpr uint64_t kSign = uint64_t{1} << 63;

template <class T>
struct WideKeys {
  using K = KeyIndex;
  const T* in;
  bool descending;
  K operator()(int64_t i) const {
    uint64_t key;
    if constexpr (std::is_same_v<T, std::complex<float>>) {
      auto [first, second] = complex_key(in[i].real(), in[i].imag());
      key = (static_cast<uint64_t>(first) << 32 | static_cast<uint32_t>(second)) ^ kSign ^
            (uint64_t{1} << 31);
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
      // Where these are equal, second_key decides.
      key = static_cast<uint64_t>(complex_key(in[i].real(), in[i].imag()).first) ^ kSign;
    } else {
      key = static_cast<uint64_t>(static_cast<int64_t>(order_key(in[i]))) ^ kSign;
    }
    return {static_cast<uint64_t>(i), descending ? ~key : key};
  }
  static int64_t index(const K& key) { return static_cast<int64_t>(key.index); }
  K second_key(uint64_t i) const {
    uint64_t key = static_cast<uint64_t>(complex_key(in[i].real(), in[i].imag()).second) ^ kSign;
    return {i, descending ? ~key : key};
  }
};

template <class T>
bool fits_packed(int64_t n) {
  return sizeof(T) <= 4 && n <= int64_t{1} << 32;
}

// argsort of one line.
void order_line(DType t, const char* in, int64_t* out, int64_t n, bool descending);

// out[i] = in[order[i]] for elements of `size` bytes; the two may not overlap.
void gather(int size, const char* in, const int64_t* order, int64_t n, char* out);

}  // namespace numbus::routines
