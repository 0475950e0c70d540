// The window: instructions recorded and not yet run, with the key under which their plan is cached.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/dtype.h"
#include "base/layout.h"
#include "ir/function.h"
#include "lazy/base.h"
#include "ops/reductions.h"
#include "ops/routines.h"
#include "ops/table.h"

namespace numbus {

// One array operand as recorded: a view of a window slot, or (slot < 0) a run-time scalar.
struct Operand {
  int32_t slot = -1;
  int32_t imm = -1;  // index of the scalar
  DType dtype = DType::Bool;
  // SSA: which version of the slot is read, or (of results) which one is changed into a new one:
  // that of the instruction that wrote it last; -1: the one before the window.
  int32_t version = -1;
  const Layout* layout = nullptr;  // kept alive by the window
  int64_t offset = 0;              // bytes from the start of the base
};

// A function that instructions may apply.
struct Recordable : ir::Function, std::enable_shared_from_this<Recordable> {
  Recordable(ir::Function f, uint64_t id) : ir::Function(std::move(f)), id(id) {}
  uint64_t id;  // of no other one, now or later: what keys and value numbers are made of
};

constexpr int kMaxOperands = 5;  // a scatter's: value, three indices, predicate
// Of routines, beyond the first: they follow the operands in Instr::in.
constexpr int kMaxMore = 2;

struct Instr {
  enum Code : uint8_t { Map, Reduce, Call } code = Map;
  Op op = Op::cast;  // Map: a row, or select, cast (a copy), index (start + i * step); Call of
                     // a routine that applies an operation: a row
  Op by = Op::cast;  // scatter: a row by which elements are combined with values; cast: none
  Reduction reduction = Reduction::Sum;
  Routine routine = Routine::matmul;
  uint8_t nin = 0;           // operands without the predicate
  uint8_t more = 0;          // Call: further results, in[nin] and in[nin + 1], in fresh memory
  bool predicated = false;   // in[nin] is a boolean operand: write, or reduce, only where it holds
  DType loop = DType::Bool;  // operands are converted to this (select: all but the condition)
  uint64_t axes = 0;         // Reduce: bit d set where dimension d of in[0] is reduced; gather and
                             // scatter: where it is indexed by in[1], in[2], … in turn
  uint8_t first_axis = 0;    // gather, scatter: first of the indices' dimensions in the domain
  uint8_t told = 0;          // the kinds of floating-point errors to warn of (lazy/float_errors.h)
  bool of_tensors = false;   // a function of tensors asked for it: whose errors it has
  const char* told_as = nullptr;  // what warnings say that they were met in (lazy/float_errors.h)
  // Wrong indices are reported and stop a scatter as a whole, or their points are left out without
  // a word, or there are none.
  enum Bounds : uint8_t { Report, Skip, Sure } bounds = Report;
  double param = 0;                                  // Var: ddof
  std::array<int64_t, kMaxAttributes> attributes{};  // Call: how (ops/routines.def)
  const Recordable* function = nullptr;  // apply: its steps, straightened; the window holds it
  Operand out, in[kMaxOperands];
  Device* only = nullptr;  // what it is recorded for, where devices are chosen by cost; null: any
  uint64_t line = 0;       // where in the Python program
  uint64_t value = 0;      // equal for instructions that compute the same from the same
  std::string_view name() const {
    return code == Call      ? row(routine).name
           : op == Op::apply ? std::string_view(function->name)
                             : op_name(op);
  }
  int inputs() const { return nin + predicated; }
  bool gathers() const { return code == Map && op == Op::gather; }
  bool scatters() const { return code == Map && scatters_by(op); }
};

// Whether the instruction writes every element of its result's base, whatever they were.
bool overwrites(const Instr& i, const Base& out, const Layout& layout, int64_t offset);
inline bool overwrites(const Instr& i, const Base& out) {
  return overwrites(i, out, *i.out.layout, i.out.offset);
}

// A view as the recorder receives it.
struct ViewRef {
  Base* base;
  const Layout* layout;
  int64_t offset;
  DType dtype;
  uint64_t through = 0;  // Array::through
};
// The value number of what a view shows: a new one where others can change it unseen.
uint64_t value_of(const ViewRef& v);

struct Slot {
  Base* base;
  int64_t first_offset;  // of the first access: keys hold offsets relative to it
  const Layout* first_layout;
  DType first_dtype;
  int32_t writer = -1;  // the last instruction that writes it; -1: none, it is as it was before
  bool mixed = false;   // accesses differ, so absolute offsets matter
  bool unsure = false;  // a scatter waits for its indices to be looked at, and may not be done
  bool written() const { return writer >= 0; }
};

// A loop of the program found in the window: from instruction `first` on, count * period of them
// are `count` copies of one body.
struct Repeats {
  int first = 0, period = 0, count = 0;
};

class Window;
// One line for each instruction, in SSA form (print.cpp).
std::string print(const Window& w);
// Raises where versions are not those of the last writers before each instruction.
void verify(const Window& w);
// Key words for what an instruction is, without its operands.
void append_header(const Instr& i, std::vector<uint64_t>& key);
// Who else can see a slot's base, and whether it has storage.
uint64_t liveness(const Slot& s);
// Which instructions ask for the same from the same line: the planner keeps them apart.
bool has_scalars(const Instr& i);
bool same_request(const Instr& x, const Instr& y);  // of which none has scalars
void append_requests(const Window& w, std::vector<uint64_t>& key);

class Window {
 public:
  // Appends; operands of `i` are filled from the views and scalars given. After the `count` of them
  // stand the further results of a call.
  struct Input {
    const ViewRef* view = nullptr;
    Scalar scalar;
    DType dtype = DType::Bool;  // of the scalar
  };
  void record(Instr& i, const ViewRef& out, const Input* in, int count);

  bool empty() const { return instrs_.empty(); }
  // Whether another device than this instruction's has to carry it out.
  bool refuses(const Instr& i) const { return i.only && only_ && i.only != only_; }
  // The slot of a base; -1: the window does not use it.
  int slot_of(const Base& b) const {
    if (b.window == this) return b.slot;
    if (b.other_windows == 0) return -1;
    auto at = shared_slots_.find(&b);
    return at == shared_slots_.end() ? -1 : at->second;
  }
  // Whether the window, which uses the base, writes it.
  bool writes(const Base& b) const { return slots_[slot_of(b)].written(); }
  // Makes the bases those of no window, as far as this one is concerned: it is carried out.
  void detach();
  // Whether the instructions from `first` on, so far iterations of a body of `period`, may be a
  // loop inside one kernel: each base seen in one way only, nothing reduced, and no request a mere
  // repetition.
  bool may_fold(int first, int period) const;
  // Whether the program holds on to what the first of two iterations made, now a third has begun.
  bool keeps_iterations(int first, int period) const;
  // Whether `count` copies of the body use the same scalars.
  bool same_scalars(int first, int period, int count) const;
  // Completes the key: equal keys mean equal windows, down to every address within its base. A key
  // that is complete gets what may have changed since.
  void complete_key();
  // Other bases of the same sizes in place of those of a window that has been carried out. It holds
  // them until it is carried out again.
  void set_bases(std::span<Base* const> bases);
  // Lets go of the bases, and keeps the rest.
  void release_bases();
  void clear();  // drops references of a detached window; instructions are done

  std::vector<Instr> instrs_;
  std::vector<Slot> slots_;
  std::vector<Scalar> scalars_;
  std::vector<uint64_t> key_;  // everything about the window but its scalars; complete at a flush
  Repeats repeats_;
  std::vector<LayoutRef> layouts_;  // that the key names
  std::vector<std::shared_ptr<const Recordable>> functions_;
  Device* only_ = nullptr;  // that of its instructions that need one
  class Recorder* recorder = nullptr;

 private:
  void append(Instr& i, const ViewRef& out, const Input* in, int count);
  Operand operand(const ViewRef& v, bool write);
  void number(Instr& i, const ViewRef& out, const Input* in, int count, size_t header);
  int add_slot(const ViewRef& v);
  size_t slots_in_key_ = 0;  // where the key has them; 0: it is not complete
  // The instruction before `end` that writes the slot last; -1: none.
  int32_t writer_before(size_t end, int32_t slot) const;
  [[gnu::cold, gnu::noinline]] void undo(size_t keys, size_t scalars,
                                         size_t slots);  // an instruction that is half recorded
  // Slots of bases that another thread's window used before.
  std::unordered_map<const Base*, int32_t> shared_slots_;
};

}  // namespace numbus
