// A fast 64-bit mixing hash for keys that are also compared exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace numbus {

inline uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v;
  h *= 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

// Of many words four are mixed side by side, as each step waits for the one before.
inline uint64_t hash_words(const uint64_t* words, size_t n, uint64_t h = 0x243F6A8885A308D3ull) {
  constexpr size_t kMany = 32, kLanes = 4;
  size_t i = 0;
  if (n >= kMany) {
    uint64_t lanes[kLanes];
    for (size_t k = 0; k < kLanes; ++k) lanes[k] = h + k;
    for (; i + kLanes <= n; i += kLanes)
      for (size_t k = 0; k < kLanes; ++k) lanes[k] = mix(lanes[k], words[i + k]);
    for (const uint64_t lane : lanes) h = mix(h, lane);
  }
  for (; i < n; ++i) h = mix(h, words[i]);
  return h;
}

inline uint64_t hash_bytes(std::string_view s, uint64_t h = 0x13198A2E03707344ull) {
  for (unsigned char c : s) h = mix(h, c);
  return h;
}

}  // namespace numbus
