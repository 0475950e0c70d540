// Derivatives of elementwise operations, of copies and choices, and of users' functions.
#include "array/quantity.h"
#include "base/error.h"
#include "ops/derivatives.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

// In the type that the operation computed in: integers would overflow where it did not.
Quantity quantity_of(const Operand& o, DType loop) {
  if (!o.number) {
    if (!o.saved) return 0.0;
    const bool as_is = o.saved->dtype == loop || !is_inexact(loop);
    return as_is ? Quantity(*o.saved) : Quantity(copy(*o.saved, loop));
  }
  if (!is_complex(o.region.dtype)) return Quantity(converted(o.scalar, DType::F64).f[0]);
  return Quantity(full({}, o.region.dtype, o.scalar));
}

// g times a derivative, conjugate where it is complex.
Array times(const Array& g, const Quantity& d) {
  if (d.is_number && d.number == 1) return g;
  if (d.is_number && d.number == -1) {
    const Arg a(&g);
    return apply(Op::negative, {&a, 1});
  }
  const Quantity factor = d.is_number ? d : Quantity(conjugate(d.array));
  const Arg both[2] = {Arg(&g), factor.arg()};
  return apply(Op::multiply, both);
}

// A magnitude is real, also where it is stored as a complex number.
Array of_magnitude(const Entry& e, const Array& g) {
  const Quantity z(saved(e.operands[0])), r(part(saved(e.results[0]), false));
  const Quantity direction = choose(of(Op::equal, r, 0.0), Quantity(0.0), of(Op::divide, z, r));
  return of(Op::multiply, Quantity(part(g, false)), direction).array;
}

Contributions pull_row(const Entry& e, const Array& g) {
  const Instr& i = e.instr;
  Contributions parts(e.operands.size());
  if (i.op == Op::absolute && is_complex(i.loop)) {
    parts[0] = of_magnitude(e, g);
    return parts;
  }
  if (i.op == Op::conjugate) {
    parts[0] = conjugate(g);
    return parts;
  }
  const Quantity x = quantity_of(e.operands[0], i.loop),
                 y = i.nin > 1 ? quantity_of(e.operands[1], i.loop) : x,
                 r = quantity_of(e.results[0], i.loop);
  for (int k = 0; k < i.nin; ++k) {
    if (!e.operands[static_cast<size_t>(k)].active) continue;
    const std::optional<Quantity> d =
        partial_derivative<Quantity>(QuantityMaker{}, i.op, k, x, y, r);
    if (!d) no_derivative(e);
    parts[static_cast<size_t>(k)] = times(g, *d);
  }
  return parts;
}

}  // namespace

Contributions pull_map(const Entry& e, const Array& g) {
  const Instr& i = e.instr;
  Contributions parts(e.operands.size());
  switch (i.op) {
    case Op::cast: parts[0] = g; return parts;
    case Op::select: {
      const Quantity condition = quantity_of(e.operands[0], DType::Bool);
      const Arg given(&g);
      if (e.operands[1].active) parts[1] = select(condition.arg(), given, zero());
      if (e.operands[2].active) parts[2] = select(condition.arg(), zero(), given);
      return parts;
    }
    case Op::relu: {  // an infinite g stays out where the result is 0
      const Quantity r = quantity_of(e.results[0], i.loop);
      parts[0] = select(r.arg(), Arg(&g), zero());
      return parts;
    }
    case Op::real_part: parts[0] = g; return parts;
    case Op::make_complex:
      parts[0] = part(g, false);
      parts[1] = part(g, true);
      return parts;
    case Op::imag_part: {
      const Array i_unit = full({}, complex_of(g.dtype), Scalar::from_complex(0, 1));
      const Arg both[2] = {Arg(&g), Arg(&i_unit)};
      parts[0] = apply(Op::multiply, both);
      return parts;
    }
    default: break;
  }
  if (static_cast<int>(i.op) >= kNumRows) not_yet(e);
  if (i.op == Op::fma) not_yet(e);
  return pull_row(e, g);
}

// The function's steps are recorded again, as operations, and differentiated as such.
Contributions pull_apply(const Entry& e, const Array& g) {
  if (loops(*e.function)) not_yet(e, ", a function with a loop");
  Contributions parts(e.operands.size());
  std::vector<Array> copies, watched;
  std::vector<Arg> args;
  std::vector<size_t> active;
  copies.reserve(static_cast<size_t>(e.instr.nin));
  Program inner;
  for (int k = 0; k < e.instr.nin; ++k) {
    const Operand& o = e.operands[static_cast<size_t>(k)];
    if (o.number) {
      args.emplace_back(o.scalar, o.region.dtype);
      continue;
    }
    const Array& x = saved(o);
    copies.push_back(o.active ? copy(x, x.dtype) : x);
    args.emplace_back(&copies.back());
    if (!o.active) continue;
    inner.watch(copies.back());
    watched.push_back(copies.back());
    active.push_back(static_cast<size_t>(k));
  }
  Array result;
  begin(inner);
  try {
    result = record_each_step(*e.function, args);
  } catch (...) {
    end(inner);
    throw;
  }
  end(inner);
  const auto found = gradient(inner, {&result, 1}, {&g, 1}, watched);
  for (size_t n = 0; n < active.size(); ++n)
    parts[active[n]] = found[n] ? *found[n] : own_copy(watched[n], std::nullopt);
  return parts;
}

}  // namespace numbus::program
