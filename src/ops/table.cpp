// The rows, and type resolution.
#include "ops/table.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/error.h"

namespace numbus {

namespace {
// Whether a column of derivatives (ops/derivatives.h) has an expression.
constexpr bool has(std::string_view derivative) { return derivative != "NONE"; }
}  // namespace

const Row kRows[] = {
#define PRIM(name, nin, rule, bool_as, llvm, c, lo, hi, doc, ulp, also, libm, dx, dy) \
  {#name, nin,  Rule::rule, Op::bool_as,         true, true, lo, hi, doc,             \
   ulp,   also, libm,       {has(#dx), has(#dy)}},
#define MATH(name, nin, rule, bool_as, lo, hi, doc, ulp, also, libm, dx, dy) \
  {#name, nin,  Rule::rule, Op::bool_as,         false, true, lo, hi, doc,   \
   ulp,   also, libm,       {has(#dx), has(#dy)}},
#define INTERNAL(name, nin, rule, llvm, c, dx) \
  {#name, nin, Rule::rule, Op::name, true, false, 0, 0, "", 0, "", "", {has(#dx), false}},
#include "ops/ops.def"
#undef PRIM
#undef MATH
#undef INTERNAL
};

std::string_view name(Rule rule) {
  static constexpr std::string_view kNames[] = {
#define NUMBUS_RULE(name) #name,
      NUMBUS_RULES(NUMBUS_RULE)
#undef NUMBUS_RULE
  };
  return kNames[static_cast<int>(rule)];
}

Op row_named(std::string_view wanted) {
  static const auto* const kByName = [] {
    auto* m = new std::unordered_map<std::string_view, Op>;
    for (int i = 0; i < kNumRows; ++i) {
      if (!kRows[i].published) continue;
      m->emplace(kRows[i].name, static_cast<Op>(i));
      for (std::string_view rest = kRows[i].also; !rest.empty();) {
        size_t end = std::min(rest.find(' '), rest.size());
        m->emplace(rest.substr(0, end), static_cast<Op>(i));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return m;
  }();
  auto found = kByName->find(wanted);
  return found == kByName->end() ? Op::select : found->second;
}

std::string_view op_name(Op op) {
  static constexpr std::string_view kStructural[] = {
      "select",      "cast",         "bits",        "constant",   "scalar",        "index",
      "in_box",      "load",         "store",       "acc_load",   "acc_store",     "real_part",
      "imag_part",   "make_complex", "table",       "if_any",     "end_if",        "if_result",
      "repeat",      "carry",        "carry_next",  "end_repeat", "gather",        "scatter",
      "scatter_add", "scatter_min",  "scatter_max", "apply",      "check",         "param",
      "variable",    "get",          "set",         "branch",     "branch_else",   "end_branch",
      "loop",        "loop_next",    "end_loop",    "break_loop", "continue_loop", "give",
      "ret",         "read",         "write",       "argument",   "call",          "call_result",
      "intrinsic"};
  static_assert(std::size(kStructural) == static_cast<int>(Op::intrinsic) - kNumRows + 1);
  int i = static_cast<int>(op);
  return i < kNumRows ? kRows[i].name : kStructural[i - kNumRows];
}

namespace {

[[noreturn]] void no_loop(Op op, std::span<const DType> operands, const char* expected) {
  std::string got;
  for (DType t : operands) got += (got.empty() ? "" : ", ") + std::string(name(t));
  raise(ErrorKind::Type, std::string(op_name(op)), "not supported for the input types", got,
        expected);
}

}  // namespace

Resolved resolve(Op op, std::span<const DType> operands) {
  const Row& r = row(op);
  DType t = operands[0];
  for (DType o : operands.subspan(1)) t = promote(t, o);
  bool all_bool = t == DType::Bool;
  if (all_bool && r.bool_as != op) return resolve(r.bool_as, operands);
  auto same = [&](DType in, DType out) { return Resolved{op, {in, in, in}, out}; };
  switch (r.rule) {
    case Rule::Arith:
    case Rule::Any:
      if (all_bool && (op == Op::reciprocal || op == Op::square || op == Op::conjugate))
        return same(DType::I8, DType::I8);
      return same(t, t);
    case Rule::ArithNoBool:
      if (all_bool)
        no_loop(op, operands, "a number type (for bool use logical_xor, logical_not or astype)");
      return same(t, t);
    case Rule::Divide:
      if (!is_inexact(t)) t = DType::F64;
      return same(t, t);
    case Rule::Modulo:
      if (is_complex(t)) no_loop(op, operands, "bool, integer or float types");
      if (all_bool) t = DType::I8;
      return same(t, t);
    case Rule::Power:
      if (all_bool) t = DType::I8;
      return same(t, t);
    case Rule::FloatPower: t = is_complex(t) ? DType::C128 : DType::F64; return same(t, t);
    case Rule::Float:
      if (is_complex(t)) no_loop(op, operands, "bool, integer or float types");
      if (t == DType::BF16) return same(t, t);  // of small integers, which would be float16's
      t = float_for(operands[0]);
      for (DType o : operands.subspan(1)) t = promote(t, float_for(o));
      return same(t, t);
    case Rule::FloatComplex: t = float_for(t); return same(t, t);
    case Rule::RoundReal:
      if (is_complex(t)) no_loop(op, operands, "bool, integer or float types");
      return same(t, t);
    case Rule::Abs: return same(t, real_of(t));
    case Rule::Compare: return same(t, DType::Bool);
    case Rule::Logical: return same(DType::Bool, DType::Bool);
    case Rule::Bits:
      if (is_inexact(t)) no_loop(op, operands, "bool or integer types");
      return same(t, t);
    case Rule::Shift:
      if (is_inexact(t)) no_loop(op, operands, "bool or integer types");
      if (all_bool) t = DType::I8;
      return same(t, t);
    case Rule::Whole:
      if (is_inexact(t) || all_bool) no_loop(op, operands, "integer types");
      return same(t, t);
    case Rule::BitCount:
      if (is_inexact(t)) no_loop(op, operands, "integer types");
      if (all_bool) t = DType::I8;
      return same(t, DType::U8);
    case Rule::TestFloat: return same(t, DType::Bool);
    case Rule::TestReal:
      if (is_complex(t)) no_loop(op, operands, "bool, integer or float types");
      return same(float_for(t), DType::Bool);
    case Rule::None: break;
  }
  return same(t, t);
}

}  // namespace numbus
