// A plan: the kernels that carry out a window, in order, with everything about them that does not
// change between runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "interp/program.h"
#include "ir/kernel.h"
#include "lazy/calls.h"
#include "lazy/window.h"

namespace numbus {

// One kernel's code, shared by all plans that need it.
struct KernelCode {
  ir::Kernel ir;
  std::unique_ptr<interp::Program> program;
  compile::NativeFunction native = nullptr;
  int64_t interpreted_ns = 0;  // work done so far without compiling
};

// The cached code of a kernel; equal kernels are one object.
std::shared_ptr<KernelCode> kernel_code(ir::Kernel k);

// Where a parameter word comes from at run time.
struct Patch {
  int word;
  int storage;     // index in Plan::storages, or -1: a scalar
  int64_t offset;  // relative to the slot's first access
  int scalar;
  DType dtype;
  bool written;
};

// A value that an instruction must not meet, and what is lost if it does.
struct Check {
  enum Kind : uint8_t { Index, NegativePower } kind = Index;
  int instr = 0;  // of the planner
  uint64_t line = 0;
  int axis = 0;  // an index of this axis, beyond its extent
  int64_t extent = 0;
  std::vector<int> spoils;  // storages that hold what depends on the instruction
};

struct ReduceStep {
  Reduction kind;
  DType in, out;  // type reduced over, type stored
  double ddof;
  int first_field, fields;
  int storage;  // of the result
  int64_t offset;
  std::vector<int64_t> strides;  // of the result, per kernel dimension (0 along reduced ones)
};

// What explain() says of an instruction.
struct Work {
  int source;  // window instruction
  std::string name;
  bool masked;
};

// One launch: of a kernel, or a library's.
struct KernelStep {
  std::shared_ptr<KernelCode> code;
  std::optional<CallStep> call;
  std::vector<int64_t> params;
  std::vector<Patch> patches;
  std::vector<ReduceStep> reduces;
  int64_t rows = 1;        // product of the extents of all dimensions but the last
  int64_t cols = 1;        // extent of the last
  int64_t sequential = 1;  // rows that belong to one result (reductions that keep dimensions)
  bool keeps = false;      // a reduction that keeps dimensions
  int64_t points = 0, bytes = 0;
  int64_t flops = 0;     // of floating-point numbers; a product and a sum in one step are two
  int64_t turns = 1;     // of the loop in the body
  bool loops = false;    // functions in the body do, nobody knows how often
  bool tail = false;     // 0-d work that belongs to the kernel before it
  bool ordered = false;  // a scatter: one thread, points in order
  bool guards = false;   // looks at the indices of the scatter that is the next step
  std::vector<Check> checks;
  std::vector<int64_t> report;  // per check, whether it failed, and a value that was wrong
  bool serial = false;          // order matters: one thread, interpreter only
  std::vector<Work> works;
  std::vector<int64_t> shape;           // of the domain, as the program has it
  int contracted = 0, temporaries = 0;  // values that live in registers; in memory, and die here
  int64_t contracted_bytes = 0, temporary_bytes = 0;
  std::vector<int> free_after;  // storages that die here
  // Fresh storages that may be those of others that die here: (fresh, dying), read and written
  // whole, each point at its own address.
  std::vector<std::pair<int, int>> takes;
  std::vector<std::pair<std::string, std::shared_ptr<void>>>
      device_code;  // what a device's executor made of it
};

struct Storage {
  int slot;  // the window slot it belongs to, or -1
  int64_t nbytes;
  bool initial;  // it is the slot's storage before the window runs
  bool needed;   // false: contracted, lives in registers
};

struct Plan {
  std::vector<uint64_t> key;
  std::vector<LayoutRef> layouts;
  std::vector<Storage> storages;
  std::vector<int> final_storage;  // per slot
  std::vector<KernelStep> steps;
  int64_t contracted_bytes = 0;
};

std::unique_ptr<Plan> make_plan(const Window& w);

int64_t flops_of(const ir::Kernel& k, int64_t points, int64_t turns);
int64_t flops_of(const CallStep& c);

// Builds the kernel of one group of the planner (build.cpp).
struct Group;
struct Planner;
enum class Part { Whole, Guard, Guarded };  // a scatter's: the look at its indices; the rest
KernelStep build_kernel(Planner& p, Group& g, Part part);

}  // namespace numbus
