// Between strided memory and dense blocks of elements, which the loops work on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace numbus::interp {

// Every byte but 0 means true: memory of others may hold more than 0 and 1, the loops know no more.
inline void normalise(const char* from, char* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] != 0;
}

// An element of 16 bytes.
struct Pair {
  uint64_t half[2];
};

// n times the element of `size` bytes (1 to 8) at `value`.
inline void fill(const void* value, int size, char* to, int64_t n) {
  uint64_t u = 0;
  std::memcpy(&u, value, size);
  switch (size) {
    case 1: std::fill_n(reinterpret_cast<uint8_t*>(to), n, static_cast<uint8_t>(u)); break;
    case 2: std::fill_n(reinterpret_cast<uint16_t*>(to), n, static_cast<uint16_t>(u)); break;
    case 4: std::fill_n(reinterpret_cast<uint32_t*>(to), n, static_cast<uint32_t>(u)); break;
    default: std::fill_n(reinterpret_cast<uint64_t*>(to), n, u); break;
  }
}

// Moves n elements between a strided argument and a dense block.
template <class U, bool kGather>
void move_strided(char* memory, int64_t stride, char* block, int64_t n) {
  U* dense = reinterpret_cast<U*>(block);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kGather)
      std::memcpy(dense + i, memory + i * stride, sizeof(U));
    else
      std::memcpy(memory + i * stride, dense + i, sizeof(U));
  }
}
template <bool kGather>
void move(int size, char* memory, int64_t stride, char* block, int64_t n) {
  switch (size) {
    case 1: return move_strided<uint8_t, kGather>(memory, stride, block, n);
    case 2: return move_strided<uint16_t, kGather>(memory, stride, block, n);
    case 4: return move_strided<uint32_t, kGather>(memory, stride, block, n);
    case 8: return move_strided<uint64_t, kGather>(memory, stride, block, n);
    default: return move_strided<Pair, kGather>(memory, stride, block, n);
  }
}

}  // namespace numbus::interp
