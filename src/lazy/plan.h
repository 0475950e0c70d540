// A plan: the kernels that carry out a window, in order. What depends on where the window's arrays
// lie, and on how large they are, are formulas; a Run (run.h) holds their values.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "device/cpu/apart.h"
#include "interp/program.h"
#include "ir/kernel.h"
#include "lazy/background.h"
#include "lazy/calls.h"
#include "lazy/number.h"
#include "lazy/window.h"

namespace numbus {

// One kernel's code, shared by all plans that need it.
struct KernelCode {
  ir::Kernel ir;
  std::unique_ptr<interp::Program> program;
  compile::NativeFunction native = nullptr;
  std::shared_ptr<void> native_memory;
  int64_t interpreted_ns = 0;                  // work done so far without compiling
  std::shared_ptr<CompilingKernel> compiling;  // while a thread does
  bool looked_on_disk = false;
  std::atomic<int64_t> unit_ns{0};  // what a unit of the domain took last; 0: never timed
};

// The cached code of a kernel; equal kernels are one object.
std::shared_ptr<KernelCode> kernel_code(ir::Kernel k);

// Where a parameter word comes from at run time.
template <class N>
struct PatchOf {
  int word;
  int storage;  // index in Plan::storages, or -1: a scalar
  N offset;     // from the start of the storage, in bytes
  int scalar;
  DType dtype;
  bool written;
};

// A value that an instruction must not meet, and what is lost if it does.
template <class N>
struct CheckOf {
  enum Kind : uint8_t { Index, NegativePower } kind = Index;
  int instr = 0;   // of the planner
  int source = 0;  // of the window
  int axis = 0;    // an index of this axis, beyond its extent
  N extent = 0;
  std::vector<int> spoils;  // storages that hold what depends on the instruction
};

template <class N>
struct ReduceOf {
  Reduction kind;
  DType in, out;  // type reduced over, type stored
  double ddof;
  int first_field, fields;
  int storage;  // of the result
  N offset;
  std::vector<N> strides;  // of the result, per kernel dimension (0 along reduced ones)
};

// What explain() says of an instruction.
struct Work {
  int source;  // window instruction
  std::string name;
  bool masked;
};

// Where an instruction of a step has its operands, in terms of storages: it can be computed again
// by itself.
struct Traced {
  int source = 0;  // window instruction; -1: a copy of one storage to another, as a whole
  int out = -1;    // storages; -1: none, as of scalars
  int in[kMaxOperands] = {-1, -1, -1, -1, -1};
};

// What devices made of a step's code, for all runs of its plan.
struct DeviceCode : std::vector<std::pair<std::string, std::shared_ptr<void>>> {
  void* find(const std::string& key) const {
    for (auto& [known, made] : *this)
      if (known == key) return made.get();
    return nullptr;
  }
};

// One launch, of a kernel or a library's: what is the same wherever the window's arrays lie.
struct StepBase {
  std::shared_ptr<KernelCode> code;
  std::optional<CallStep> call;
  int64_t iterations = 1;   // of the loop in the body
  bool keeps = false;       // a reduction that keeps dimensions
  bool loops = false;       // functions in the body do, nobody knows how often
  bool tail = false;        // 0-d work that belongs to the kernel before it
  bool ordered = false;     // a scatter: one thread, points in order
  bool guards = false;      // looks at the indices of the scatter that is the next step
  bool searches = false;    // argmin, argmax, min or max of an argument, along its elements
  bool copies = false;      // an argument to another, and nothing else
  bool takes_rows = false;  // elements at known indices to another argument, and nothing else
  bool puts = false;        // elements, or one number, to known indices of a line, and nothing else
  bool serial = false;      // order matters: one thread, interpreter only
  std::vector<Work> works;
  std::vector<Traced> traced;  // empty: they cannot be computed again
  // An instruction may give what NumPy warns of without a flag: results are to be looked at.
  bool tested = false;
  bool casts = false;        // of floats to integers, which may set no flags
  std::vector<int> divides;  // of `traced`: divisions of integers
  bool exact = false;  // no instruction sets flags of floating-point errors that NumPy does not
  int contracted = 0, temporaries = 0;  // values that live in registers; in memory, and die here
  std::vector<int> free_after;          // storages that die here
  // Fresh storages that may be those of others that die here: (fresh, dying), read and written
  // whole, each point at its own address.
  std::vector<std::pair<int, int>> takes;
  std::shared_ptr<DeviceCode> device_code = std::make_shared<DeviceCode>();
};

// The rest: formulas in a plan (N = Number), values in a run (N = int64_t).
template <class N>
struct StepOf : StepBase {
  std::vector<N> params;
  std::vector<PatchOf<N>> patches;
  std::vector<ReduceOf<N>> reduces;
  std::vector<CheckOf<N>> checks;
  N rows = 1;        // product of the extents of all dimensions but the last
  N cols = 1;        // extent of the last
  N sequential = 1;  // rows that belong to one result (reductions that keep dimensions)
  N points = 0, bytes = 0;
  N flops = 0;           // of floating-point numbers; a product and a sum in one step are two
  std::vector<N> shape;  // of the domain, as the program has it
  N contracted_bytes = 0, temporary_bytes = 0;
};

struct PlanStep : StepOf<Number> {
  std::vector<const PlanLayout*> layouts;  // of a call's operands and result
};

struct KernelStep : StepOf<int64_t> {
  // Whether the flags of floating-point errors are looked at, and what they were (flags::Kind).
  bool watched = false;
  unsigned raised = 0;
  bool special = false;         // a result that is tested is infinite or not a number
  int looks = 0;                // how often its instructions have been looked at again
  int in_vain = 0;              // the latest of these that found nothing
  bool unsure = false;          // it may have met what nothing tells of
  unsigned tries = 0;           // how often that was so
  std::vector<int64_t> report;  // per check, whether it failed, and a value that was wrong
  std::vector<char*> results;   // where each reduction stores its (first) result
  int64_t* late = nullptr;      // where it reports instead, for a look after the run (late.h)
  // The latest of what the device made of it, and for which arrangement and sizes.
  std::string device_key;
  void* device_made = nullptr;
  // The memory of a long call and the bases that own it, where nothing else writes to its results
  // until it has ended. Where they are empty, Ctrl-C waits for the call.
  std::vector<Reach> reach;
  std::shared_ptr<void> bases;
};

using Patch = PatchOf<int64_t>;
using Check = CheckOf<int64_t>;
using ReduceStep = ReduceOf<int64_t>;

// Calls f(x) for every number of a step, in an order of its own that is always the same.
template <class S, class F>
void for_numbers(S& s, F&& f) {
  for (auto& n : s.params) f(n);
  for (auto& p : s.patches) f(p.offset);
  for (auto& r : s.reduces) {
    f(r.offset);
    for (auto& n : r.strides) f(n);
  }
  for (auto& c : s.checks) f(c.extent);
  for (auto* n : {&s.rows, &s.cols, &s.sequential, &s.points, &s.bytes, &s.flops,
                  &s.contracted_bytes, &s.temporary_bytes})
    f(*n);
  for (auto& n : s.shape) f(n);
}

template <class N>
struct StorageOf {
  int slot;  // the window slot it belongs to, or -1
  N nbytes;
  bool initial;              // it is the slot's storage before the window runs
  bool needed;               // false: contracted, lives in registers
  bool overwritten = false;  // before anything else, as a whole: what was there does not matter
};
using PlanStorage = StorageOf<Number>;
using Storage = StorageOf<int64_t>;

// How a window is carried out, wherever its arrays lie: immutable once it is made.
struct Plan {
  std::vector<uint64_t> key;       // Positions'
  std::vector<LayoutRef> layouts;  // that the key names
  std::vector<PlanStorage> storages;
  std::vector<int> final_storage;  // per slot
  std::vector<PlanStep> steps;
  Number contracted_bytes = 0;
  std::deque<PlanLayout> made_layouts;
  Formulas formulas;
};

std::shared_ptr<const Plan> make_plan(const Window& w, const Positions& p);

// Of one point.
int64_t flops_of(const ir::Kernel& k, int64_t iterations);

// Builds the kernel of one group of the planner (build.cpp).
struct Group;
struct Planner;
enum class Part { Whole, Guard, Guarded };  // a scatter's: the look at its indices; the rest
PlanStep build_kernel(Planner& p, Group& g, Part part);

}  // namespace numbus
