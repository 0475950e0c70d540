// Kernel IR to PTX.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "ops/reductions.h"

namespace llvm {
class Module;
}

namespace numbus::compile {

// How a GPU kernel gathers its reduction state into results.
enum class GpuForm { Map, ReduceAll, ReduceRows, ReduceColumns };

// One reduction of the kernel, for the device code that merges and finishes states.
struct GpuReduce {
  Reduction kind;
  DType in, out;
  int first_field, fields;
};

// What is known of an argument's address beside the arguments before it.
struct GpuAddress {
  int like = -1;         // the first argument with the same strides
  int base = -1;         // the first argument of which it is a known shift, by these
  int row = 0, col = 0;  // rows and elements
  bool operator==(const GpuAddress&) const = default;
};

constexpr int kGpuThreads = 256;

// Everything that identifies GPU code beyond the kernel.
struct GpuKernel {
  const ir::Kernel* kernel;
  GpuForm form = GpuForm::Map;
  std::vector<GpuReduce> reduces;
  int vector = 1;     // consecutive points a thread handles at once
  int rows_each = 1;  // consecutive rows a thread handles at once (Map)
  int strip = 0;  // ReduceAll: rows that a block of so many times kGpuThreads walks down at once
  bool warps = false;   // ReduceRows: a warp for each row, in the order that a block has
  bool narrow = false;  // all rows begin less than 2 GiB from the first one
  std::vector<GpuAddress> addresses;

  // Whether a point reads rows that other points read too.
  bool shares_rows() const {
    for (const GpuAddress& p : addresses)
      if (p.row != 0) return true;
    return false;
  }
  // Kernel parameters, all 64-bit: the kernel's own words, then these.
  int word_rows() const { return kernel->param_words(); }  // Map: rows; else: results
  int word_points() const { return word_rows() + 1; }      // Map: columns; else: points per result
  int word_sequential() const { return word_rows() + 2; }  // rows per result
  int word_partials() const { return word_rows() + 3; }    // scratch of the blocks, a counter first
  int word_reduce(int r) const {
    return word_rows() + 4 + r * (kernel->rank + 2);
  }  // pointer, strides, ddof
  int words() const { return word_reduce(static_cast<int>(reduces.size())); }
  std::string key() const;
};

// The number of consecutive points per thread that fixes a reduction's order.
int gpu_reduce_vector(const GpuKernel& k);

// PTX with the entry "k". sm: compute capability (90), ptx: PTX version (80 is 8.0).
std::string build_ptx(const GpuKernel& k, int sm, int ptx);
// The same for whatever `build` puts into a module.
// `optimised`: through LLVM's own pipeline and with polls, for code that users write; `long_loops`:
// of ir::Module.
std::string emit_ptx(int sm, int ptx, const std::function<void(llvm::Module&)>& build,
                     bool optimised = false, bool long_loops = true);

}  // namespace numbus::compile
