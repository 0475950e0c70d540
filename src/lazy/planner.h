// The planner's working state: instructions over versioned storages, gathered into groups that
// become kernels.
#pragma once

#include <bitset>
#include <string>
#include <vector>

#include "lazy/number.h"
#include "lazy/plan.h"

namespace numbus {

using ir::kShortRow;

constexpr int kMaxWindow = 256;
// Sets of storages by their numbers' last bits: what is not in one is certain, which is most.
constexpr int kFilter = 1024;
// Rewriting may add two instructions per instruction: a write under a mask that overlaps what it
// reads.
using InstrSet = std::bitset<kMaxWindow * 3>;

// An operand after renaming: storage instead of slot.
struct Access {
  int storage = -1;  // -1: a scalar
  int imm = -1;
  DType dtype = DType::Bool;
  const PlanLayout* layout = nullptr;
  Number offset = 0;
  bool spread = false;  // of a gather or scatter: at each point it may be any element of the layout
};

struct PlanInstr {
  Instr instr;
  Access out, in[kMaxOperands];
  std::vector<Number> shape;  // of its domain
  InstrSet needs;             // earlier instructions it must follow
  int source;                 // window instruction
  int inputs() const { return instr.inputs(); }
  bool solo = false;  // writes one address more than once: runs alone, in order
  // Made by rewriting: a copy of a whole base, or one that stands for no instruction.
  enum Made : uint8_t { Recorded, WholeCopy, Otherwise } made = Recorded;
};

struct Member {
  int instr;
  std::vector<Number> at;  // where its domain begins in the group's
};

// An access of a member. The reduction's result seen as an access over its input's dimensions would
// be no point access: it has none.
struct PointAccess {
  const Access* access;
  int member;
  bool write, result;
};

struct Group {
  std::vector<Member> members;           // in program order
  std::vector<PointAccess> accesses;     // theirs
  std::bitset<kFilter> touches, writes;  // the storages of these
  std::vector<Number> shape;
  InstrSet set, needs;  // its instructions, and those that they must follow
  InstrSet above;       // while groups are made: of all groups that this one depends on
  bool reduces = false, solo = false;
  bool counts = false;  // a member uses its place in the domain (arange, argmin)
  uint64_t axes = 0;
  std::vector<int> walk;  // of a reduction: dimensions by its input's strides, outermost first
  int tail_of = -1;       // 0-d work done at the end of that group
  bool scalar() const {
    for (Number e : shape)
      if (e != 1) return false;
    return !reduces;
  }
};

struct Planner {
  Planner(const Window& w, Questions& q, Repeats r);
  bool may_be_asked(size_t n) const;
  void rewrite();       // renames storages where a kernel could not write in place
  void end_products();  // gives products the bias and activation that follow them
  void find_dependences();
  void fuse();
  void order();
  void assign_storage(Plan& plan);
  // The storages that hold what depends on an instruction's result.
  std::vector<int> spoiled_by(int instr) const;

  const Window& window;
  Questions& questions;  // asked of the window's positions so far
  std::vector<PlanInstr> instrs;
  std::vector<PlanStorage> storages;
  std::vector<int> current;   // storage of each slot
  std::vector<Group> groups;  // after order(): in execution order
  Repeats repeats;            // of the window, as long as they are the instructions' too

 private:
  void add(const Instr& i, int source);
  void find_accesses(Group& g) const;
  bool try_merge(int a, int b);
  bool embed(const Group& big, const Group& small, std::vector<Number>& at) const;
  bool compatible(const Group& a, const std::vector<Number>& shift_a, const Group& b,
                  const std::vector<Number>& shift_b) const;
  bool path_through_third(int a, int b) const;
  // Everything that the group depends on, by what its neighbours depend on.
  void find_above(Group& g) const;
  void tell_above(int merged);  // to the groups that depend on it
  bool repeats_request(const Group& a, const Group& b) const;
  bool read_between(int storage, int first, int last) const;
  std::vector<int> group_of_;  // per instruction
};

// The groups with their instructions over storages (print.cpp).
std::string print(const Planner& p);

// Whether both accesses are the same view of the same storage: each point has its own element.
bool identical(const Access& a, const Access& b);
// Whether one may reach bytes of the other as another point's element.
bool crosses(const Access& a, const Access& b);  // asks

// Calls f(access, is_write, is_result) for every array access of an instruction.
template <class F>
void for_accesses(const PlanInstr& p, F&& f) {
  for (int n = 0; n < p.inputs(); ++n)
    if (p.in[n].storage >= 0) f(p.in[n], false, false);
  f(p.out, true, p.instr.code == Instr::Reduce);
  for (int n = p.inputs(); n < p.inputs() + p.instr.more; ++n) f(p.in[n], true, false);
}

}  // namespace numbus
