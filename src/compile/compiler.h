// Kernel IR to callable code, through the disk cache where it has the kernel already.
#pragma once

#include <cstdint>
#include <string>

#include "ir/kernel.h"

namespace numbus::compile {

using NativeFunction = void (*)(const int64_t* params, int64_t row_begin, int64_t row_end,
                                int64_t col_begin, int64_t col_end, char* acc, int64_t row_origin);

struct Compiled {
  NativeFunction function = nullptr;
  bool from_disk = false;
  double milliseconds = 0;
};

// Compiles for this processor; the code lives as long as the process.
Compiled compile_native(const ir::Kernel& k);

// LLVM IR or assembly of a kernel, for explain() and tests.
std::string native_ir(const ir::Kernel& k);

// Differs between builds of this library: part of every cache key.
std::string build_identity();

std::string host_cpu_name();
int host_vector_bytes();

}  // namespace numbus::compile
