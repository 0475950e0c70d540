// What the class Lower works with while it emits a function: scopes, loops, errors, sequences.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/unit.h"

namespace numbus::frontend {

struct Parts {
  struct Variable {
    Type type;
    std::vector<Val> slots;
    std::string key;
    bool of_iterations = false;  // a parallel loop has given it values, none of which stays
  };
  // Names of one function, or of one that is expanded in its place.
  struct Scope {
    std::unordered_map<std::string, Variable> variables;
    // Which assignment a name has its value from: where it stands and, in a loop that is written
    // out, the how-manieth time. Counting all of a pass would not do: passes that know more write
    // out more.
    std::unordered_map<std::string, std::string> versions;
    std::unordered_map<std::string, int> assigned;  // how often, by name and line:column
    std::string prefix;                             // of the keys under which types are kept
    Scope* outer = nullptr;
    int depth = 0;  // of nested statements: assignments outside of any begin a new version
    const Source* source = nullptr;
    const void* portion = nullptr;  // the parallel loop's body that it stands in
    // Names that hold a value here, whatever their type says: they have been compared with None.
    std::set<std::string> present;

    // Under which the type of a name is kept.
    std::string key(const std::string& name) const {
      auto version = versions.find(name);
      return prefix + name + "#" + (version == versions.end() ? "" : version->second);
    }
  };
  struct Loop {
    Val begin;
    bool owned_by_user;         // break and continue mean it
    Val iteration = ir::kNone;  // of an unrolled loop: what continue leaves
    bool broken = false;        // a break in it has been met
  };
  // A finally that what leaves its statement comes by.
  struct Finally {
    Val loop, reason;  // what leads there, and a variable that says why: a Reason
    size_t loops;      // that are open around it
    bool returns = false, breaks = false, continues = false;
  };
  enum Reason : int64_t { kFallsThrough, kReturns, kBreaks, kContinues };
  // An error that a handler, or a finally, deals with: variables of what was noted of it.
  struct Caught {
    Val site, first, second;
    Val owner;            // of its argument's memory, or zero
    Val cause;            // the owner of what is known of its cause, or zero
    std::set<int> sites;  // that it may have
  };
  // What is noted as an exception is raised.
  struct Raised {
    int site;
    Val first, second;
  };
  // What a loop sees: how many items, and each of them.
  struct Sequence {
    Val count;
    std::function<Value(Val)> item;
    std::function<Val()> now = {};  // how many there are by now, where that may change
    // In place of these, where nobody knows how many there are before: runs over all items.
    std::function<void(const std::function<void(const Value&)>&)> each = {};
  };
};

}  // namespace numbus::frontend
