// How many random cases a test takes: few in everyday runs, all of them where NUMBUS_TEST_ALL is
// set (make sanitize).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace numbus::test {

inline bool takes_all() {
  const char* v = std::getenv("NUMBUS_TEST_ALL");
  return v && *v && *v != '0';
}

// 1, 2, … up to `all`; every tenth as many otherwise. Seeds are fixed: a failure names its own.
inline std::vector<uint64_t> seeds(uint64_t all) {
  std::vector<uint64_t> r;
  for (uint64_t n = 1; n <= (takes_all() ? all : all / 10); ++n) r.push_back(n);
  return r;
}

}  // namespace numbus::test
