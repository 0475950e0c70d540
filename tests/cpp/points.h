// The points of a shape, for tests that compute in plain loops what the library computes otherwise.
#pragma once

#include <cstdint>
#include <vector>

namespace numbus::test {

// Calls f(index) for every index of the shape, the last dimension fastest.
template <class F>
void each_point(const std::vector<int64_t>& shape, F&& f) {
  int64_t size = 1;
  for (int64_t extent : shape) size *= extent;
  for (int64_t n = 0; n < size; ++n) {
    std::vector<int64_t> at(shape.size());
    int64_t rest = n;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
    f(at);
  }
}

}  // namespace numbus::test
