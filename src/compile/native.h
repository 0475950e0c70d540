// Kernel IR to LLVM IR for the host processor.
#pragma once

#include <llvm/IR/IRBuilder.h>

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

// That function, empty, and what vector code for the host asks of it.
llvm::Function* native_function(llvm::Module& m, const std::string& name, int vector_bytes);
// Asks for `count` elements of `size` bytes from `place` on, `ahead` bytes early.
void prefetch_ahead(llvm::IRBuilder<>& b, llvm::Value* row, llvm::Value* element, int size,
                    int64_t count, int64_t ahead);

// The same for the lines of a scan.
void build_native_scan(llvm::Module& m, const ScanCode& c, const std::string& name,
                       int vector_bytes);

}  // namespace numbus::compile
