// A function with loops twice: without the checks that its range has decided, and as they were.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "passes/sums.h"
#include "passes/values.h"

namespace numbus {

// A check that holds throughout a loop where the conditions, each a sum that is at most zero, hold
// before it. `select`: the choice of an index that counts from the end, which then is not needed.
struct Lifted {
  size_t check;
  std::vector<Sum> conditions;
  ir::Val select;
};

// A branch that checks an index: `at` is the index counted from the start, a select where it may
// count from the end; nothing between that and the branch leaves.
struct Check {
  size_t branch;
  ir::Val at, extent;
  bool chosen;
};

struct Decisions {
  std::vector<char> always;                           // per branch: a check that always holds
  std::vector<char> from_start;                       // per select: an index that is never negative
  std::map<size_t, std::vector<Lifted>> lifted;       // per loop
  std::map<std::pair<size_t, int>, ir::Val> at_hand;  // (loop, value): the step that has it
  std::vector<ValueNode> nodes;
  std::vector<size_t> end;    // per branch and loop
  std::vector<int> of;        // per step: its value
  std::vector<Check> checks;  // of the function
  // Whether lanes never run it side by side: then a check may be a branch around a branch.
  bool serial = false;
};

void make_two(ir::Function& f, const Decisions& d);

}  // namespace numbus
