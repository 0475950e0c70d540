// Which names a function may read before anything has been assigned to them.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "frontend/tree.h"

namespace numbus::frontend {

// A read of a name that has no value on some path that leads there.
struct UncertainRead {
  const Node* definition;  // the function whose name it is
  bool free = false;       // it stands in a function within that one
  bool never = false;      // the name has a value on no path
};
using UncertainReads = std::unordered_map<const Node*, UncertainRead>;

// Adds the reads of a function's own names that are not certain to come after an assignment, and
// gives these names. Conditions are not looked at: what looks uncertain may well be certain.
// `shares_scopes`: comprehensions stand in the function itself, as since Python 3.12.
std::set<std::string> find_uncertain(const Node& definition, bool shares_scopes,
                                     UncertainReads& reads);

}  // namespace numbus::frontend
