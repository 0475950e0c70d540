// What the class Lower works with while it emits a function: scopes, loops, errors, sequences.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
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
    const Node* definition = nullptr;  // the function; none: a comprehension's own
    const void* portion = nullptr;     // the parallel loop's body that it stands in
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
  // What the program has written in a call.
  struct Call {
    // What is not there is the program's mistake.
    struct Arguments : std::vector<Value> {
      using std::vector<Value>::vector;
      Arguments(std::vector<Value> v) : std::vector<Value>(std::move(v)) {}
      const Value& operator[](size_t k) const { return k < size() ? data()[k] : missing(k); }
      Value& operator[](size_t k) { return k < size() ? data()[k] : missing(k); }
      const Value& at(size_t k) const { return (*this)[k]; }
      Value& at(size_t k) { return (*this)[k]; }
    };
    struct Missing {
      size_t position;
    };
    [[noreturn]] static Value& missing(size_t k) { throw Missing{k}; }
    const Node& n;
    Arguments args;
    std::vector<std::pair<std::string, Value>> keywords;
    const Value* keyword(const std::string& name) const {
      for (const auto& [k, v] : keywords)
        if (k == name) return &v;
      return nullptr;
    }
    // By position or by name; null: not given.
    const Value* get(size_t offset_at, const std::string& name) const {
      return offset_at < args.size() ? &args[offset_at] : keyword(name);
    }
  };
  struct Generator {  // a loop over what a function yields
    const Node* loop;
    Scope* scope;
    Generator* outer;
    std::function<void(const Node&, const Value&)> on_return;
    std::vector<Loop> loops;
    Val all;
    Val raising_to, return_to;  // and the finally statements, as they are around the loop
    size_t finals, finals_base;
  };
  // What indices that are arrays pick.
  struct Offsets {
    bool known = false;
    Value base;                // the array with its slices taken
    std::vector<size_t> axes;  // of the view, that the indices pick along
    std::vector<Value> at;     // integers and arrays of them, one for each of these axes
    std::vector<std::vector<Val>> repeated;  // of each of these: see repeats()
    std::vector<Val> shape;                  // of what is picked
    size_t first = 0, ndim = 0;              // where in it the indices' own shape stands
  };
  // What is given to a ufunc by name.
  struct UfuncKeywords {
    std::optional<Value> out, where;
    std::optional<DType> dtype;
    Casting casting = Casting::SameKind;
  };
  // Whether np.array makes a copy.
  enum class Copies { Always, Needed, Never };
  // A reduction of NumPy's: `axis` a constant or a tuple of such, none for all elements.
  struct Reduction {
    std::string name;
    std::optional<Value> axis = {}, ddof = {}, initial = {};
    std::optional<DType> dtype = {};
    bool keepdims = false;
    bool in_order = false;       // one element after the other, as Python's sum
    Val one_by_one = ir::kNone;  // a condition under which it is so, too
  };
};

}  // namespace numbus::frontend
