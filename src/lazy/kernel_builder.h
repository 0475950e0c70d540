// From a group of instructions to one kernel: the builder's state, shared by the files that fill
// it.
#pragma once

#include <functional>
#include <map>

#include "lazy/planner.h"

namespace numbus {

struct KernelArg {
  int storage;
  DType dtype;
  Number offset;                // bytes from the base's start to the domain's origin
  std::vector<Number> strides;  // per domain dimension
  bool written = false, stored = false;
};

// The value an argument has at this point of the body, and where in the domain it has it (kNone:
// everywhere).
struct Cell {
  ir::Val value = ir::kNone;
  ir::Val where = ir::kNone;
};

// Iterations of a loop that do not fold after all: the window is planned again without.
struct NotFolded {};

class KernelBuilder {
  using Val = ir::Val;
  using Vec = std::vector<Number>;
  static constexpr Val kNone = ir::kNone;

  // How the arguments of one iteration correspond to those of the next.
  struct IterationMap {
    explicit IterationMap(KernelBuilder& k) : k(k) {}
    bool find();

    KernelBuilder& k;
    size_t begin = 0, width = 0;  // the first iteration's members
    int64_t count = 0;
    // An argument that an iteration reads before it writes it, and the one (in terms of the second
    // iteration) whose value at the end of the iteration before that is.
    std::vector<std::pair<int, int>> carried;
    std::vector<std::pair<int, int>> written;  // by the second iteration, its name in the last one
    std::vector<int> only_read;
    std::vector<std::pair<size_t, int>> kept;  // carried value at the last iteration's beginning,
                                               // and the argument that this is
  };

 public:
  KernelBuilder(Planner& p, Group& g, Part part) : p_(p), g_(g), part_(part), b_(step_ir_) {}
  PlanStep build();

 private:
  // build.cpp: dimensions and arguments.
  int arg_of(const Access& a, const Member& m);
  // That of a gather's source or a scatter's target: without the indexed dimensions.
  int spread_arg(const PlanInstr& p, const Access& a, const Member& m);
  int add_arg(KernelArg k, const Member& m);
  bool whole(const Member& m) const { return p_.instrs[m.instr].shape == g_.shape; }
  void collect();
  const PlanLayout* order_layout() const;
  bool reduced(int d) const { return g_.reduces && (g_.axes >> d & 1); }
  // Dimensions from outermost to innermost in memory order, extents of one dropped, neighbours
  // merged where every argument walks them as one.
  void choose_dimensions();
  // A per-domain-dimension vector over the kernel's dimensions: the innermost of a merged run
  // stands for it.
  Number over(const Vec& v, int dim) const;
  void fill_args();
  void find_stored();
  // Drops arguments that never touch memory, and writes the run-time parameters.
  PlanStep finish();
  void trace();
  void find_takes(const std::vector<KernelArg>& args);

  // build_body.cpp: steps.
  Val scalar(int imm, DType t);
  Val fixed_scalar(Number value);
  // The point's index in NumPy's order within the domain (or within the reduced part of it).
  Val position();
  Val box_of(const Member& m);
  Val both(Val x, Val y);
  Val load(int arg, Val where);
  Val read(const Access& a, const Member& m, Val where);
  void emit(const Member& m);
  void write(int arg, Val v, Val where);
  void store_results();

  // Has `value` reported at the points where it is wrong.
  void check(CheckOf<Number> c, const Member& m, Val wrong, Val value);
  // The byte offset that the indices of a gather or scatter give; `where` loses the wrong ones.
  Val spread_offset(const PlanInstr& p, const Access& a, const Member& m, Val& where);

  // build_repeats.cpp: loops of the program.
  // The value of an argument for all points: what a predicate left out comes from memory.
  Val total(int arg);
  // Members that are many iterations of one loop body: the first is emitted as it is, the second as
  // the body of a loop, whose state stays in registers. Gives the number of members this covers.
  size_t emit_repeats();

  Planner& p_;
  Group& g_;
  Part part_;
  ir::Kernel step_ir_;
  ir::Builder b_;
  PlanStep step_;
  std::vector<KernelArg> args_;
  std::vector<Cell> cells_;
  std::map<int, std::vector<std::pair<Val, Val>>> loads_;
  std::vector<Vec> boxes_;
  std::vector<std::vector<int>> dims_;
  Vec extents_, weights_;
  std::vector<ReduceOf<Number>> reduces_;
  std::vector<std::pair<int, Number>> scalar_imms_;
  size_t next_reduce_ = 0;
  Val position_ = kNone;
  bool uses_index_ = false, whole_loads_ = false;
};

}  // namespace numbus
