// The body of a parallel loop while it is built: a function of its own.
#pragma once

#include <algorithm>
#include <set>

#include "frontend/lower.h"

namespace numbus::frontend {

struct Lower::Portion {
  Scope* outer_scope;
  Portion* outer;
  // What the body sees of the function around it, by value.
  struct Capture {
    Type type;
    std::vector<int64_t> inside;  // its words, by number of the body's parameters
    uint64_t origin = 0;
  };
  std::map<std::string, Capture> captured;  // by the key of the variable
  std::vector<Val> passed;                  // in the order of the parameters
  std::vector<std::pair<std::string, Op>> reductions;
  std::vector<std::pair<std::string, Op>> arrays;  // `a += …`: each portion adds up in its own
  std::set<std::string> own;  // other names that iterations assign to: each has its own

  // Whether the iterations change the variable outside: what it holds there is not what one of them
  // may read.
  bool carries(const std::string& name) const {
    auto reduces = [&](const auto& r) { return r.first == name; };
    return own.contains(name) || std::ranges::any_of(reductions, reduces) ||
           std::ranges::any_of(arrays, reduces);
  }
  // A variable of the function around the loop, or nothing where the body has one of that name.
  std::optional<Value> read(Lower& l, const std::string& name);
};

}  // namespace numbus::frontend
