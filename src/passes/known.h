// What holds at a step of a function: facts from branches and loops, and proofs from them.
#pragma once

#include <unordered_map>

#include "passes/sums.h"
#include "passes/values.h"

namespace numbus {

using Wide = __int128;

struct Range {
  Wide low, high;
};

// a - b + k <= 0 as numbers; kUnknown stands for zero.
struct Bound {
  int a, b;
  int64_t k;
};

struct Fact {
  Bound is;
  bool check = false;        // from a check of an index
  std::vector<Bound> needs;  // holds if these do
  Sum sum;                   // a - b + k, as far as it is known not to run over
};

// A loop's variable that each iteration adds the same to, while it is below or above `stop`.
struct Counter {
  int start, stop, step;
  int64_t by;        // the step; 0: known at run time only
  bool safe = true;  // never runs over, whatever `stop` is
};

class Known {
 public:
  explicit Known(Values& v);
  void grow();  // after new values

  // Where values are at hand: before a loop (its step), or kHere: nothing is asked.
  using Position = size_t;
  static constexpr Position kHere = 0;

  void assume(int condition, bool holds, bool check = false);
  void add(Bound b, bool check = false, std::vector<Bound> needs = {});
  size_t size() const { return facts_.size(); }
  void forget(size_t size);

  Range range(int value, int depth = 3);
  // As a sum of values that are at hand at that step, or of what cannot be taken apart.
  Sum sum(int value, Position at);
  Sum sum(const Bound& b, Position at);
  bool proves(const Bound& b) { return proves_sum(sum(b, kHere)); }
  bool proves_sum(const Sum& s) {
    budget_ = 60;
    return proves(s, 4);
  }
  // Conditions on values at hand before the loop from which s <= 0 follows wherever the facts of
  // this step hold. False: found none.
  bool lift(const Sum& s, Position loop, std::vector<Sum>& conditions, int depth = 6);
  bool lift(const Bound& b, Position loop, std::vector<Sum>& conditions) {
    return lift(sum(b, loop), loop, conditions);
  }
  // Conditions under which nothing that sum() took apart runs over, nor the conditions themselves.
  bool lift_widths(Position loop, std::vector<Sum>& conditions);
  void begin_lift() {
    taken_.clear();
    budget_ = 120;
  }

  // Whether the condition says that the value is above zero.
  bool positive(int condition, int value) const {
    const ValueNode& less = node(condition);
    return less.op == Op::less && node(less.a).op == Op::constant && node(less.a).imm == 0 &&
           less.b == value;
  }

  // Whether the value can be computed before the loop.
  bool at_hand(int value, Position loop, int depth = 8) const;
  ir::Val step_of(int value) const { return step_of_[value]; }
  void computed(int value, ir::Val step);
  size_t computed() const { return computed_.size(); }
  void forget_computed(size_t size);

  std::vector<char> extent;                   // per value: the extent of an array
  std::vector<char> floor;                    // per value: in no iteration below zero
  std::vector<signed char> direction;         // per value: 1: no iteration makes it less; -1: more
  std::unordered_map<int, Counter> counters;  // by the loop's variable as an iteration begins

 private:
  const ValueNode& node(int v) const { return values_.nodes[v]; }
  bool found_before(int v, Position loop) const {
    auto n = static_cast<size_t>(v);
    return n < step_of_.size() && step_of_[n] != ir::kNone &&
           static_cast<size_t>(step_of_[n]) < loop;
  }
  Range of_type(DType t) const;
  Range base(int v, int depth);
  bool exact(int v, int depth = 3);  // whether this sum or product cannot run over
  Range range(const Sum& s);
  std::vector<Fact> implied(int v);
  std::vector<Bound> within(int v) const;
  void mention(int v, int fact, int depth);
  bool proves(const Sum& s, int depth);
  Values& values_;
  std::vector<Fact> facts_;
  std::vector<std::vector<int>> ends_, uses_;  // per value: facts about it, facts with it
  std::vector<std::pair<int, int>> mentions_;  // (fact, value), to forget
  std::vector<ir::Val> step_of_;
  std::vector<int> computed_;
  std::vector<int> taken_;
  int budget_ = 0;
};

}  // namespace numbus
