// The body of a parallel loop while it is built: a function of its own.
#pragma once

#include <set>

#include "frontend/lower.h"

namespace numbus::frontend {

struct Lower::Portion {
  Scope* outer_scope;
  Portion* outer;
  // What the body sees of the function around it, by value.
  struct Capture {
    Type type;
    std::vector<Val> inside;  // its words, parameters of the body
    uint64_t origin = 0;
  };
  std::map<std::string, Capture> captured;
  std::vector<Val> passed;  // in the order of the parameters
  std::vector<std::pair<std::string, Op>> reductions;
  std::set<std::string> own;  // other names that the turns assign to: each turn has its own

  // A variable of the function around the loop, or nothing where the body has one of that name.
  std::optional<Value> read(Lower& l, const std::string& name);
};

}  // namespace numbus::frontend
