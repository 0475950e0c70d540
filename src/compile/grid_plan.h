// How a kernel whose block runs on lanes falls apart: into steps of the block, and runs of steps
// that each group of lanes goes through alone.
#pragma once

#include "compile/lanes.h"

namespace numbus::compile {

// Barriers of a block; warp operations, at which the lanes of a warp wait for each other.
bool is_barrier(const ir::Inst& i);
bool is_warp_operation(const ir::Inst& i);
inline bool cuts_runs(const ir::Inst& i) { return is_barrier(i) || is_warp_operation(i); }

// What each step is: of the whole block, or of the run with that number.
struct Runs {
  bool possible = true;
  std::vector<int> run;              // per step; -1: of the block
  std::vector<char> block_variable;  // per variable: one for the block
  std::vector<char> crosses;         // values that other runs use
  std::vector<char> moves;           // values that other lanes of a warp use
  std::vector<char> persistent;      // variables that live on between runs
  bool masks = false;                // threads leave, or block-level branches differ
};

class Planner {
 public:
  Planner(const ir::Function& f, const Varying& v) : f_(f), v_(v), size_(f.body.size()) {}

  Runs plan();
  // Whether a branch or loop has to stay around runs.
  bool of_block(size_t begin) const;

 private:
  void block_indices(size_t begin, size_t end);
  void values();
  void walk(size_t begin, size_t end);
  void uses();
  bool looped(size_t n) const;

  const ir::Function& f_;
  const Varying& v_;
  size_t size_;
  Runs r_;
  std::vector<size_t> ends_;
  std::vector<char> block_index_, block_value_;
  int next_ = 0;
  bool pending_ = false;
};

// Whether all lanes of each warp come to its warp operations together, and name the same others, in
// blocks whose x is a multiple of 32. Where that is not certain, threads are fibers.
bool warps_together(const ir::Function& f);

}  // namespace numbus::compile
