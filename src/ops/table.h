// The table of operations as data, and the rules that give an operation its types.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace numbus {

enum class Op : uint16_t {
#define PRIM(name, ...) name,
#define MATH(name, ...) name,
#define INTERNAL(name, ...) name,
#include "ops/ops.def"
#undef PRIM
#undef MATH
#undef INTERNAL
  // Steps with structure, known to the IR and its back ends rather than to users.
  select,     // a ? b : c
  cast,       // a converted to `type`; imm 1: a float known to be in the integer's range
  bits,       // a's bit pattern as `type`
  constant,   // imm: the bit pattern
  scalar,     // imm: index of a run-time scalar of the kernel
  index,      // imm: dimension; the point's index there, int64
  in_box,     // imm: box; whether the point lies in it
  load,       // imm: argument; only where predicate a holds (if any)
  store,      // imm: argument; a where predicate b (if any)
  acc_load,   // imm: field of the reduction state
  acc_store,  // imm: field; a where predicate b (if any)
  real_part,  // of complex a
  imag_part,
  make_complex,  // from real a and imaginary b
  table,         // imm: constant table; a: index
  if_any,  // the steps up to the matching end_if run only if a holds for some lane; imm: index of
           // end_if
  end_if,
  if_result,   // per lane: c ? b (computed inside if_any) : a
  repeat,      // the steps up to the matching end_repeat run a times (at least once); without a, as
               // long as some lane goes on
  carry,       // after repeat: a value that iterations change, at first a; after the loop:
               // its last value
  carry_next,  // before end_repeat: carry a is b in the next iteration
  end_repeat,  // a: the repeat; b: the lanes that go on, if it has no count
  gather,      // imm: argument; its element a bytes away from the point's; only where b (if any)
  scatter,     // imm: argument; a to the element c bytes away from the point's, where b (if any)
  scatter_add,  // the same, but a is added to that element, at once also where points meet
  scatter_min,  // likewise, the element becomes its minimum with a
  scatter_max,
  apply,  // a user's function, as recorded; kernels have its steps
  check,  // a: lanes where the value b is wrong, to be reported; imm: site
  // Steps of functions, which have variables, control flow and memory (ir/function.h).
  param,          // imm: number
  variable,       // declares a variable of `type`, zero at first
  get,            // a: variable
  set,            // a: variable, b: its new value
  branch,         // the steps up to the matching branch_else or end_branch run where a holds
  branch_else,    // a: the branch
  end_branch,     // a: the branch
  loop,           // the steps up to end_loop, again and again
  loop_next,      // a: the loop; from here on what continue_loop does not skip
  end_loop,       // a: the loop
  break_loop,     // a: the loop to leave, the innermost or one further out
  continue_loop,  // a: the loop
  give,           // imm: result; a: its value
  ret,            // a: status, int32: 0, or that an error has been noted
  read,           // the element of `type` b bytes after address a; imm: Space
  write,          // a, to what lies c bytes after address b; imm: Space
  argument,       // a: the next argument of the call or intrinsic that follows
  call,           // imm: function; the status, int32
  call_result,    // a: call; imm: result
  intrinsic,      // imm: Intrinsic; operands a, b, c and the arguments before it
};

// How NumPy finds an operation's loop.
#define NUMBUS_RULES(RULE)                                                             \
  RULE(Arith)        /* bool, integers, floats, complex: promoted type in, same out */ \
  RULE(ArithNoBool)  /* the same, but bool raises TypeError */                         \
  RULE(Any)          /* as Arith (minimum, maximum) */                                 \
  RULE(Divide)       /* integers compute in float64 */                                 \
  RULE(Modulo)       /* bool as int8; no complex */                                    \
  RULE(Power)        /* bool as int8 */                                                \
  RULE(FloatPower)   /* float64 or complex128 */                                       \
  RULE(Float)        /* integers in the smallest float that holds them; no complex */  \
  RULE(FloatComplex) /* the same, and complex */                                       \
  RULE(RoundReal)    /* integers stay; no complex */                                   \
  RULE(Abs)          /* complex gives its real type */                                 \
  RULE(Compare)      /* promoted type in, bool out */                                  \
  RULE(Logical)      /* operands as bool */                                            \
  RULE(Bits)         /* bool and integers */                                           \
  RULE(Shift)        /* integers, bool as int8 */                                      \
  RULE(Whole)        /* integers */                                                    \
  RULE(BitCount)     /* integers in, uint8 out */                                      \
  RULE(TestFloat)    /* any type in, bool out, integers trivially */                   \
  RULE(TestReal)     /* floats in, bool out */                                         \
  RULE(None)

enum class Rule : uint8_t {
#define NUMBUS_RULE(name) name,
  NUMBUS_RULES(NUMBUS_RULE)
#undef NUMBUS_RULE
};
std::string_view name(Rule rule);

struct Row {
  std::string_view name;
  uint8_t nin;
  Rule rule;
  Op bool_as;
  bool primitive, published;
  double low, high;
  std::string_view doc;
  double ulp;                   // the largest error of real results; 0: NumPy's bits
  std::string_view also, libm;  // other names, between spaces: NumPy's; those of C's library
  bool differentiable[2];       // by the first and by the second argument
};

extern const Row kRows[];
constexpr int kNumRows = static_cast<int>(Op::select);
inline const Row& row(Op op) { return kRows[static_cast<int>(op)]; }
std::string_view op_name(Op op);
// The row that has this name, be it NumPy's first or another one; none: Op::select.
Op row_named(std::string_view name);
constexpr bool scatters_by(Op op) { return op >= Op::scatter && op <= Op::scatter_max; }
// What a scatter combines elements by; for a plain one itself.
constexpr Op combines_by(Op op) {
  return op == Op::scatter_add   ? Op::add
         : op == Op::scatter_min ? Op::minimum
         : op == Op::scatter_max ? Op::maximum
                                 : op;
}

struct Resolved {
  Op op;        // differs from the row asked for where bool operands have a row of their own
  DType in[3];  // the loop's operand types
  DType out;
};

// NumPy's choice of loop for operands of these types (weak Python scalars already given their
// type). Raises TypeError where NumPy has no loop.
Resolved resolve(Op op, std::span<const DType> operands);

}  // namespace numbus
