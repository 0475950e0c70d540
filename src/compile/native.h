// Kernel IR to LLVM IR for the host processor.
#pragma once

#include <string>

#include "ir/kernel.h"

namespace llvm {
class Module;
}

namespace numbus::compile {

struct ScanCode;

// Adds the function `void name(const int64_t* params, row_begin, row_end, col_begin, col_end, char*
// acc, row_origin)`.
void build_native(llvm::Module& m, const ir::Kernel& k, const std::string& name, int vector_bytes);

// The same for the lines of a scan.
void build_native_scan(llvm::Module& m, const ScanCode& c, const std::string& name,
                       int vector_bytes);

}  // namespace numbus::compile
