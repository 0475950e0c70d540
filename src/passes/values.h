// What a function's steps compute, seen through its variables: equal numbers, equal values.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/function.h"

namespace numbus {

constexpr int kUnknown = -1;

// A value of one iteration of the loops around it. Pure ones are one node wherever they are
// computed.
struct ValueNode {
  enum class Form : uint8_t {
    Pure,       // op of the nodes a, b, c
    Iteration,  // what a variable holds as an iteration of a loop begins; a: as the first one does
    Left,       // what it holds after the loop, as the iteration that left it began
    Opaque,     // anything else
  };
  Form form;
  Op op;
  DType type;
  int a = kUnknown, b = kUnknown, c = kUnknown;
  int64_t imm = 0;
  ir::Val loop = ir::kNone, variable = ir::kNone;  // of a Turn, of a Left
  bool per_lane = false;                           // lanes that run side by side may differ in it
};

class Values {
 public:
  Values(const ir::Function& f, bool kernel);

  const ir::Function& f;
  std::vector<ValueNode> nodes;
  std::vector<int> of;           // per step
  std::vector<size_t> end;       // per branch and loop: where it ends
  std::vector<size_t> middle;    // branch_else or loop_next; 0: none
  std::vector<char> once;        // per loop: its body runs once, break leaves it early
  std::vector<char> yes_leaves;  // per branch: that side never comes to the branch's end
  std::vector<char> no_leaves;
  std::vector<std::vector<ir::Val>> assigned;  // per loop: the variables set in it

  int pure(Op op, DType type, int a = kUnknown, int b = kUnknown, int c = kUnknown,
           int64_t imm = 0);
  int constant(int64_t k) {
    return pure(Op::constant, DType::I64, kUnknown, kUnknown, kUnknown, k);
  }
  // What the variable holds as an iteration of the loop begins.
  int iteration(ir::Val loop, ir::Val variable) const;

 private:
  void structure();
  void walk(size_t begin, size_t end);
  void step(size_t n);
  int opaque(const ir::Inst& i);
  int node(const ValueNode& v) {
    nodes.push_back(v);
    return static_cast<int>(nodes.size()) - 1;
  }

  std::vector<std::vector<ir::Val>> changed_;  // per loop: before a break
  bool lanes_;
  bool left_ = false;
  int& now(ir::Val variable) { return now_[index_of_[variable]]; }
  std::vector<int> now_;  // per variable: its value
  std::vector<int> index_of_;
  std::vector<ir::Val> variables_;
  std::unordered_map<uint64_t, std::vector<int>> known_;
  std::unordered_map<int64_t, int> iterations_;
};

}  // namespace numbus
