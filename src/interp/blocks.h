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

// The elements [from, to) are those from the first to the last one that the mask names; whether it
// names all of them.
struct Range {
  int64_t from = 0, to = 0;
  bool all = true;

  Range(const char* mask, int64_t n) {
    const auto* first = static_cast<const char*>(std::memchr(mask, 1, static_cast<size_t>(n)));
    if (!first) return;
    from = first - mask;
    to = static_cast<const char*>(memrchr(mask, 1, static_cast<size_t>(n))) - mask + 1;
    all = !std::memchr(first, 0, static_cast<size_t>(to - from));
  }
};

// As move_strided(), where the mask, bytes of 0 and 1, holds.
template <class U, bool kGather>
void move_chosen(char* memory, int64_t stride, char* block, const char* mask, int64_t n) {
  U* dense = reinterpret_cast<U*>(block);
  for (int64_t i = 0; i < n; ++i) {
    if (!mask[i]) continue;
    if constexpr (kGather)
      std::memcpy(dense + i, memory + i * stride, sizeof(U));
    else
      std::memcpy(memory + i * stride, dense + i, sizeof(U));
  }
}
template <bool kGather>
void move_where(int size, char* memory, int64_t stride, char* block, const char* mask, int64_t n) {
  const Range r(mask, n);
  memory += r.from * stride;
  block += r.from * size;
  mask += r.from;
  n = r.to - r.from;
  // A box's mask names a run of elements.
  if (r.all) return move<kGather>(size, memory, stride, block, n);
  switch (size) {
    case 1: return move_chosen<uint8_t, kGather>(memory, stride, block, mask, n);
    case 2: return move_chosen<uint16_t, kGather>(memory, stride, block, mask, n);
    case 4: return move_chosen<uint32_t, kGather>(memory, stride, block, mask, n);
    default: return move_chosen<uint64_t, kGather>(memory, stride, block, mask, n);
  }
}

}  // namespace numbus::interp
