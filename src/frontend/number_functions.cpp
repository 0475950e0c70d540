// One of two numbers, a number's bits, and the functions of math.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::choose(const Node& n, Val condition, const Value& a, const Value& b, bool promotes) {
  if (a.unknown() || b.unknown()) return {};
  Type t;
  auto tuple = [](const Value& v) { return v.type.is(Type::Tag::Tuple) && v.type.text.empty(); };
  if (tuple(a) && tuple(b) && !a.items.empty() && join(a.type, b.type, t)) {
    Value r;
    for (size_t k = 0; k < a.items.size(); ++k)
      r.items.push_back(choose(n, condition, a.items[k], b.items[k], promotes));
    r.type = a.type;
    for (size_t k = 0; k < r.items.size(); ++k) r.type.items[k] = r.items[k].type;
    return r;
  }
  if (!a.type.is_number() || !b.type.is_number() || !join(a.type, b.type, t)) {
    if (is_beyond(a.type) || is_beyond(b.type)) refuse_beyond();
    if (a.type.is_text() && b.type.is_text())
      not_yet(n, "one of several strings", "an if statement");
    if (a.type.is_array() && b.type.is_array())
      not_yet(n, "one of " + name(a.type) + " and " + name(b.type), "an if statement");
    fail(n, "cannot choose between " + name(a.type) + " and " + name(b.type));
  }
  if (promotes) t = promoted(a.type, b.type);
  u_.widened = u_.widened || t != a.type || t != b.type;
  return number(b_->emit(Op::select, t.dtype, condition, as(a, t.dtype), as(b, t.dtype)), t.dtype,
                t.weak);
}

// The same bits as another type of the same size.
Value Lower::as_bits(const Node& n, const Value& v, DType t) {
  DType from = v.type.dtype;
  if (v.type.is_array() && (t != DType::Bool || t == from)) return view_of_size(n, v, t);
  bool plain = !is_complex(from) && !is_complex(t) && from != DType::Bool && t != DType::Bool;
  if (!plain || itemsize(from) != itemsize(t))
    not_yet(n, "a view of " + name(v.type) + " as " + std::string(numbus::name(t)),
            "a type of the same size");
  if (v.type.is_number()) return number(b_->emit(Op::bits, t, as(v, from)), t);
  Value r = v.lazy ? materialise(n, v) : v;
  r.type.dtype = t;
  r.type.text.clear();
  r.type.weak = false;
  return r;
}

// Rows by the names that NumPy and Python's math give them.
std::optional<Op> Lower::row_of(const std::string& wanted) {
  Op op = row_named(wanted);
  return op == Op::select ? std::nullopt : std::optional(op);
}

// math.* on one or two numbers: NumPy's rows, integers as float64.
Value Lower::math_function(const Node& n, const std::string& name, std::span<const Value> args) {
  for (const Value& a : args)
    if (a.unknown()) return {};
  auto to_int = [&](Op op) {
    Value x = args[0];
    // CPython rounds NumPy's integers by way of a float, which does not hold each of 64 bits.
    bool long_one = x.type.is_integer() && !x.type.weak && itemsize(x.type.dtype) == 8;
    if (long_one && op != Op::trunc) x = cast(n, x, DType::F64);
    Value r = unary(n, op, x);
    return r.type.is_array() ? r : python_int(n, r);
  };
  // As NumPy's numbers: IEEE's results, and no errors.
  auto floats = [&](const Value& a) {
    Value v = a.type.is_integer() ? cast(n, a, DType::F64, true) : a;
    v.type.weak = false;
    return v;
  };
  if (name == "hypot" && args.size() != 2) {
    Value here, origin;
    here.type = origin.type = Type::of(Type::Tag::Tuple);
    for (const Value& a : args) {
      here.items.push_back(a);
      origin.items.push_back(from_scalar(Scalar::from_float(0), DType::F64, true));
      here.type.items.push_back(a.type);
      origin.type.items.push_back(origin.items.back().type);
    }
    return call_function({n, {here, origin}, {}}, u_.program.library("math.dist"));
  }
  if (name == "floor") return to_int(Op::floor);
  if (name == "ceil") return to_int(Op::ceil);
  if (name == "trunc") return to_int(Op::trunc);
  if (name == "log" && args.size() == 2) {
    Value x = floats(args[0]), y = floats(args[1]);
    // The logarithm of a short float would be rounded to it before it is divided.
    if (x.type.dtype == DType::F64 || y.type.dtype == DType::F64)
      for (Value* v : {&x, &y}) *v = cast(n, *v, DType::F64, false);
    return binary(n, Op::divide, unary(n, Op::log, x), unary(n, Op::log, y));
  }
  auto op = row_of(name);
  if (!op) not_yet(n, "math." + name);
  if (args.size() != row(*op).nin)
    fail(n, "math." + name + " takes " + std::to_string(row(*op).nin) + " arguments; got " +
                std::to_string(args.size()));
  if (args.size() == 1) return unary(n, *op, floats(args[0]));
  return binary(n, *op, floats(args[0]), floats(args[1]));
}

}  // namespace numbus::frontend
