// The block interpreter: runs a kernel by one loop per step over blocks that stay in the
// first-level cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "interp/loops.h"
#include "ir/kernel.h"

namespace numbus::interp {

// A kernel ready to run. Owns its block buffers: one launch at a time.
class Program {
 public:
  explicit Program(const ir::Kernel& k);
  // acc: the reduction state, field by field, ir::kLanes or ir::kColumns values each.
  void run(const int64_t* params, int64_t row_begin, int64_t row_end, int64_t col_begin,
           int64_t col_end, char* acc, int64_t row_origin);

 private:
  struct Step {
    ir::Inst inst;
    Loop loop = nullptr;
    DType operand = DType::Bool;
    bool fixed = false;   // constants and scalars: set once a launch
    bool stored = false;  // by a store, as it is
  };
  size_t assign_buffers();
  void run_block(const int64_t* params, char* const* rows, const int64_t* index, int64_t col,
                 int64_t n, char* acc, int64_t acc_col);
  char* buffer(ir::Val v) { return arena_.get() + offset_[v]; }
  void fill(ir::Val v, const void* value, int size, int64_t n);

  const ir::Kernel kernel_;
  std::vector<Step> steps_;
  std::vector<size_t> offset_;
  std::vector<const char*>
      at_;  // where each step's value is now: its buffer or the argument itself
  std::unique_ptr<char[]> arena_;
  int block_;
};

}  // namespace numbus::interp
