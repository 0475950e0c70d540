// Lines of float64 on the host for tests that make operations fail.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "array/array.h"

namespace numbus {

using Values = std::vector<double>;

inline Array line(const Values& v) {
  const int64_t n = std::ssize(v);
  Array a = empty({&n, 1}, DType::F64, &cpu_device());
  a.base->ensure_data();
  std::copy(v.begin(), v.end(), reinterpret_cast<double*>(a.base->data));
  return a;
}

}  // namespace numbus
