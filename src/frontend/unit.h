// What one compilation works with: values while they are being emitted, and the functions that are
// made for given argument types.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "frontend/assigned.h"
#include "frontend/frontend.h"

namespace numbus::frontend {

using ir::Val;

struct Lazy;

// The row of an operator's node: Add is add.
Op row_of_operator(NodeKind k);

struct Value {
  Type type;
  // Number: itself. Array: address, owner, shape, strides in bytes; only the shape where it is
  // lazy. Range: start, stop, step.
  std::vector<Val> v;
  std::vector<Value> items;     // of tuples and slices
  std::optional<Scalar> known;  // a number's value, where it is known while compiling
  std::shared_ptr<const Lazy> lazy;
  bool fresh = false;    // a list that nobody else holds
  bool outside = false;  // a list that iterations of a parallel loop share
  uint64_t origin =
      0;  // parameters whose memory an array, or one in a list, may lie in, a bit each

  bool unknown() const { return type.unknown(); }
  std::span<const Val> shape() const {
    return {v.data() + (lazy ? 0 : 2), static_cast<size_t>(type.ndim)};
  }
  std::span<const Val> strides() const {
    return {v.data() + 2 + type.ndim, static_cast<size_t>(type.ndim)};
  }
};

// An array that is computed element by element where it is used.
struct Lazy {
  std::function<Value(std::span<const Val> index)> at;
  // Whether an element is made of those at its own index in these arrays, and of no others.
  bool same_indices = false;
  std::vector<Value> sources = {};
  // Conditions under which an operand of one axis has an extent of one that is repeated: loops
  // over such an array have a version without.
  std::vector<Val> narrow = {};
  // The same of any axis; where none holds, a dense one may be read as a line, by the indices
  // (0, …, 0, number): all it is made of is in C order and has its shape.
  std::vector<Val> repeated = {};
  bool dense = false;
  // Whether an element is read by an index that is data, which may lie outside.
  bool gathers = false;
};

// A function for given argument types.
struct Spec {
  int source;
  std::vector<Type> arguments;
  Type result;
  int function = -1;  // in the module
  bool active = false, recursive = false;
  // Made while a function that it calls was not finished: to be made again once that one's result
  // is another.
  bool provisional = false;
  bool raises = false;       // on every path
  bool generator = false;    // a call begins one, of what `result` says
  bool runs_python = false;  // it asks Python as it runs, or calls a function that does
  int epoch = 0;
  std::set<int> sites = {};  // of the errors that it may raise
  uint64_t written = 0;      // arguments whose elements it may change, a bit each
};

// What one compilation shares: specialised functions, sites, options.
struct Unit {
  Program& program;
  Options options;
  Result result;
  std::map<std::string, Spec> specs;
  std::map<std::string, int> texts, sites;
  std::map<int, const Node*> overloaded;  // functions that numba.extending says something of
  std::map<int, const Node*> classes;     // of named tuples, by number: where the source names them
  // Shared and local arrays: each call in the source, for each function it is compiled into.
  std::map<std::tuple<int, int, int>, int> memories;
  int epoch = 0;         // counts changes of results
  bool widened = false;  // a name holds numbers of several types
  int active = 0;        // functions being made
  // Tables with a byte for each site, made in the end: whether a handler catches its error, or,
  // with no classes, whether it has an argument.
  struct Table {
    size_t constant;  // in the module
    std::vector<std::string> classes;
  };
  std::vector<Table> tables = {};
  std::map<std::string, std::set<std::string>> bases = {};  // of exceptions' classes

  // Whether a handler of these classes catches the error of a site.
  bool may_catch(const std::vector<std::string>& classes, const Site& site) const;
  // Local functions that call themselves or each other: sources of their own, whose last parameters
  // are the names around them that they read.
  struct Lifted {
    const Node* definition;
    Source source;
    std::vector<std::string> names;
    int first = 0, count = 1;  // those that call each other have these numbers
  };
  std::deque<Lifted> lifted = {};
  // Reads that may come before an assignment, and the names that they read, by function.
  UncertainReads uncertain = {};
  std::map<const Node*, std::set<std::string>> uncertain_names = {};
  const std::set<std::string>& uncertain_in(const Node& definition);
  static constexpr int kLifted = 1 << 24;  // their numbers begin there
  const Source& source(int number) {
    return number < kLifted ? program.source(number)
                            : lifted[static_cast<size_t>(number - kLifted)].source;
  }
  Spec& specialise(int source, const std::vector<Type>& arguments, const Node* from);
};

}  // namespace numbus::frontend
