// Machine code of common kernels, which the library carries for two kinds of processors: a
// program's first calls neither wait for a compiler nor look for files. tools/prebuild.cpp makes
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace numbus::compile {

// The levels of x86-64 that there is code for: 3 has AVX2, 4 has AVX-512.
constexpr int kPrebuiltLevels[] = {3, 4};

struct PrebuiltEntry {
  int level;
  std::string key, object;
};
// The bytes that the library carries for these kernels.
std::string pack_prebuilt(const std::vector<PrebuiltEntry>& entries);
// The object for this processor of the kernel with that key; empty: there is none.
std::string_view prebuilt_object(std::string_view key);
// How many kernels there are for this processor.
int64_t prebuilt_count();

}  // namespace numbus::compile
