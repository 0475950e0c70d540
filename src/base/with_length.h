// Copies of a length that is known when they are compiled, where it is a usual one.
#pragma once

#include <cstdint>
#include <type_traits>

namespace numbus {

// f(bytes), a constant for elements and short rows: a copy of known length is a few moves.
template <class F>
void with_length(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(std::integral_constant<int64_t, 1>());
    case 2: return f(std::integral_constant<int64_t, 2>());
    case 4: return f(std::integral_constant<int64_t, 4>());
    case 8: return f(std::integral_constant<int64_t, 8>());
    case 16: return f(std::integral_constant<int64_t, 16>());
    case 24: return f(std::integral_constant<int64_t, 24>());
    case 32: return f(std::integral_constant<int64_t, 32>());
    case 40: return f(std::integral_constant<int64_t, 40>());
    case 48: return f(std::integral_constant<int64_t, 48>());
    case 64: return f(std::integral_constant<int64_t, 64>());
    default: return f(bytes);
  }
}

}  // namespace numbus
