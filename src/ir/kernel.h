// Kernel IR: one typed SSA body executed for every point of a box-shaped domain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "ops/table.h"

namespace numbus::ir {

using Val = int32_t;
constexpr Val kNone = -1;

struct Inst {
  Op op;
  DType type;  // of the result; for steps without one, of the value handled
  Val a = kNone, b = kNone, c = kNone;
  int64_t imm = 0;
};

// What a constant's `imm` holds, given the bits of its type: of a signed integer its value, so that
// passes may compare it; of other types the bits.
constexpr int64_t constant_of(DType type, int64_t bits) {
  const int spare = is_integer(type) && is_signed(type) ? 64 - 8 * itemsize(type) : 0;
  return static_cast<int64_t>(static_cast<uint64_t>(bits) << spare) >> spare;
}

// How the innermost stride of an argument relates to its item size: part of a kernel's identity.
enum class Inner : uint8_t { Uniform, Contiguous, Strided };

struct Arg {
  DType dtype;
  Inner inner;
  bool written;
  bool aligned;              // every row starts at a multiple of 64 bytes
  bool overwritten = false;  // not written, but a result has taken its memory over
};

// Where reduction state lives: none, 32 lanes by index modulo 32, or one state per column.
enum class Acc : uint8_t { None, Lanes, Columns };
constexpr int kLanes = 32;
// The elements whose lanes are merged before those of others.
constexpr int64_t kUnitPoints = 16384;
// Rows of up to so many elements are summed side by side, where there are many of them; fewer where
// indices are kept, which double the state in memory.
constexpr int64_t kShortRow = 32, kShortPositions = 8, kFewColumns = 16;
constexpr int kMaxRank = 64;
constexpr int kColumns = 512;

// The domain has `rank` dimensions, the last one innermost; rows are the points of all dimensions
// but the last. A launch covers rows [row_begin, row_end) and columns [col_begin, col_end). Lanes
// are numbered by the point's index in row-major order, (row - row_origin) * columns + column, so
// that the order of a sum does not depend on which dimensions a kernel could merge.
struct Kernel {
  int rank = 1;
  int boxes = 0;
  Acc acc = Acc::None;
  std::vector<Arg> args;
  std::vector<DType> scalars;
  std::vector<DType> acc_fields;
  std::vector<Inst> body;
  bool one_by_one = false;  // a point may read what the one before has written
  bool streaming = false;   // outputs exceed the caches: store past them
  int checks = 0;           // steps that report wrong values, one site each
  // Says whether a number it has stored (of 32 bits a part, or 64) is infinite or none at all. Code
  // for GPUs and the interpreter do not.
  bool tests = false;

  // Run-time parameters are one array of 64-bit words, laid out as these give it.
  int param_shape(int d) const { return d; }
  int param_box(int b, int d) const { return rank + (b * rank + d) * 2; }  // low, high
  int param_arg(int k) const {
    return rank + boxes * rank * 2 + k * (rank + 1);
  }  // pointer, strides
  int param_scalar(int s) const { return param_arg(static_cast<int>(args.size())) + 2 * s; }
  // Where two words per site are: whether something was wrong, and a value that was.
  int param_report() const { return param_scalar(static_cast<int>(scalars.size())); }
  // Where a word is that is set then.
  int param_special() const { return param_report() + (checks > 0); }
  int param_words() const { return param_special() + tests; }

  // The exact identity of the code, for caches.
  std::string key() const;
};

// Constant tables of the maths functions, shared by all kernels.
struct ConstTable {
  std::vector<double> values;
};
int intern_table(const double* values, int n);
const ConstTable& const_table(int id);

// Appends steps, folding repeats of pure steps into one (local value numbering).
class Builder {
 public:
  explicit Builder(Kernel& k) : body_(k.body), k_(&k) {}
  explicit Builder(std::vector<Inst>& body) : body_(body) {}
  Val emit(Op op, DType type, Val a = kNone, Val b = kNone, Val c = kNone, int64_t imm = 0);
  Val constant(DType type, const Scalar& s);
  Val constant_bits(DType type, int64_t bits);
  Val cast(Val a, DType to);
  DType type(Val v) const { return body_[v].type; }
  const Inst& step(Val v) const { return body_[v]; }
  Kernel& kernel() { return *k_; }
  Val begin_if_any(Val mask);
  void end_if_any(Val begin);
  // A loop of `count` >= 1 iterations, or (kNone) as long as `going_on` holds for some lane; what
  // changes in it is declared at its beginning, all at once.
  Val begin_repeat(Val count = kNone);
  Val carry(Val initial) { return emit(Op::carry, type(initial), initial); }
  void end_repeat(Val begin, const std::vector<std::pair<Val, Val>>& next,  // (carry, its next)
                  Val going_on = kNone);
  // Steps emitted in a scope are at hand for reuse only while it is open.
  void open_scope(Val v) { open_.push_back(v); }
  void close_scope() { open_.pop_back(); }

 private:
  std::vector<Inst>& body_;
  Kernel* k_ = nullptr;
  std::vector<std::vector<Val>> buckets_ = std::vector<std::vector<Val>>(64);
  std::vector<Val> open_;      // if_any, repeat, and what a function opens
  std::vector<int> scope_of_;  // innermost open one of each step
};

// Raises RuntimeError with the first violated rule and the kernel: operands exist, are defined
// before their use and in a scope that is still open, and have the types that the step demands;
// arguments, scalars, boxes and the reduction's state exist.
void verify(const Kernel& k);
std::string print(const Kernel& k);
std::string print_steps(const std::vector<Inst>& body);
// Appends what identifies a step, in any process.
void put_step(std::string& key, const Inst& i);

}  // namespace numbus::ir
