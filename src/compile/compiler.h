// Kernel IR to callable code, through the disk cache where it has the kernel already.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "compile/simt.h"
#include "ir/function.h"

namespace numbus::compile {

using NativeFunction = void (*)(const int64_t* params, int64_t row_begin, int64_t row_end,
                                int64_t col_begin, int64_t col_end, char* acc, int64_t row_origin);

struct Compiled {
  NativeFunction function = nullptr;
  std::shared_ptr<void> memory;  // where it is, for as long as this is held
  bool from_disk = false;
  double milliseconds = 0;
};

// Compiles for this processor. Any thread may.
Compiled compile_native(const ir::Kernel& k);
// The code of the kernel where it is in the disk cache, else no function.
Compiled load_native(const ir::Kernel& k);
// The code of the kernel of that key where the library carries it (prebuilt.h), else no function;
// and the making of that code, for processors of a level of x86-64.
Compiled load_prebuilt(const std::string& key);
std::string object_for(const ir::Kernel& k, int level);

// A function as it is called: its context (compile/function.h), words of parameters, of results;
// the status.
using HostFunction = int32_t (*)(int64_t* context, const int64_t* words, int64_t* results);
struct CompiledFunction {
  HostFunction function = nullptr;
  bool from_disk = false;
  double milliseconds = 0;
};
// Rows must be expanded.
CompiledFunction compile_function(const ir::Module& m);
// The key under which a module's code is cached.
std::string function_key(const ir::Module& m);
// The code under a key, if this process or the cache on disk has it; else no function.
CompiledFunction stored_function(const std::string& key);
// A launch over a grid, for the host.
struct CompiledKernel {
  HostKernel kernel;
  bool from_disk = false;
  double milliseconds = 0;
};
// For blocks of that extent in x: on lanes where that can be.
CompiledKernel compile_kernel(const ir::Module& m, int64_t block_x);
// The same as PTX with the entry "k", whose parameters are the record's address, the words, with
// recursion the bytes of a thread's stack (gpu_stack.h), and the address of the word that tells
// loops without a known end to end (polls.h).
std::string kernel_ptx(const ir::Module& m, int sm, int ptx);
// The first function of a module as one that others' code calls by its name. An argument is a
// number, or an array without an end, of which a pointer is given: `items` are the bytes of an
// item, 0 for numbers. By C's ABI it returns its result, and an error ends the GPU's work (trap);
// else it returns 0, or 1 for an error, and leaves its result where its first argument points to.
std::string device_function_ptx(const ir::Module& m, const std::string& name,
                                const std::vector<int>& items, bool c_abi, int sm, int ptx);
std::string function_ir(const ir::Module& m);        // LLVM IR, optimised
std::string function_assembly(const ir::Module& m);  // of the host

// LLVM IR of a kernel, for a debugger: nothing here calls it.
std::string native_ir(const ir::Kernel& k);

// Not in builds without LLVM, where asking for code is an error.
bool has_compiler();

// Differs between builds of this library: part of every cache key.
std::string build_identity();

std::string host_cpu_name();
int host_vector_bytes();

}  // namespace numbus::compile
