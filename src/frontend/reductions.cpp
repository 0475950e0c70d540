// Reductions of arrays inside functions, over all elements or along one axis.
#include <cmath>
#include <limits>

#include "frontend/lower.h"

namespace numbus::frontend {

// sum, prod, min, max, any, all, mean, var, std, argmin, argmax, count_nonzero.
Value Lower::reduce(const Node& n, const std::string& name, const Value& given,
                    const std::optional<Value>& axis) {
  if (given.unknown()) return {};
  if (!given.type.is_array() && !given.type.is_number())
    fail(n, "." + name + " needs an array; got " + frontend::name(given.type));
  Value a = given;
  if (given.type.is_number())
    a = lazy(given.type.dtype, {}, [given](std::span<const Val>) { return given; });
  DType t = a.type.dtype;
  bool arg = name == "argmin" || name == "argmax";
  if (axis && !axis->type.is(Type::Tag::None)) {
    auto k = known_int(*axis);
    if (!k) fail(n, "axis has to be a constant");
    int64_t d = *k < 0 ? *k + a.type.ndim : *k;
    if (a.type.ndim == 0 && (*k == 0 || *k == -1)) return reduce(n, name, a, {});
    if (d < 0 || d >= a.type.ndim)
      fail(n, "axis " + std::to_string(*k) + " is out of bounds for " +
                  std::to_string(a.type.ndim) + " dimensions");
    if (a.lazy) a = materialise(n, a);
    std::vector<Val> shape;
    for (size_t e = 0; e < a.type.ndim; ++e)
      if (static_cast<int64_t>(e) != d) shape.push_back(a.shape()[e]);
    if (shape.empty()) return reduce(n, name, a, {});
    // The type of a result, by a sample that is never run.
    auto line = [this, a, d](std::span<const Val> at) {
      Value base = a;
      std::vector<Val> extent{a.shape()[d]};
      std::vector<Val> others(at.begin(), at.end());
      Value l = lazy(a.type.dtype, extent, [this, base, others, d](std::span<const Val> i) {
        std::vector<Val> all = others;
        all.insert(all.begin() + d, i[0]);
        return element(base, all);
      });
      return l;
    };
    bool whole = numbus::is_integer(t) || t == DType::Bool;
    DType out = arg || name == "count_nonzero"   ? DType::I64
                : name == "any" || name == "all" ? DType::Bool
                : name == "mean" || name == "var" || name == "std"
                    ? (whole ? DType::F64 : real_of(t))
                : (name == "sum" || name == "prod") && whole
                    ? (kind(t) == Kind::UInt ? DType::U64 : DType::I64)
                    : t;
    if (name == "mean" && is_complex(t)) out = t;
    Value r = lazy(out, shape, [this, line, name, &n](std::span<const Val> at) {
      return reduce(n, name, line(at), {});
    });
    return materialise(n, r);
  }

  auto over = [&](Val state, const std::function<Val(Val, const Value&)>& step) {
    each(a.shape(), [&](std::span<const Val> at) { set(state, step(get(state), element(a, at))); });
    return get(state);
  };
  auto constant = [&](DType as_type, double v) {
    return b_->constant(as_type, is_float(as_type) ? Scalar::from_float(v)
                                                   : Scalar::from_int(static_cast<int64_t>(v)));
  };
  if (is_complex(t)) {
    if (name != "sum" && name != "mean" && name != "prod")
      not_yet(n, "." + name + " of complex arrays");
    DType part = real_of(t);
    Val re = new_variable(part), im = new_variable(part);
    set(re, constant(part, name == "prod" ? 1 : 0));
    set(im, constant(part, 0));
    each(a.shape(), [&](std::span<const Val> at) {
      Val old = b_->emit(Op::make_complex, t, get(re), get(im));
      Val now = b_->emit(name == "prod" ? Op::multiply : Op::add, t, old, element(a, at).v[0]);
      set(re, b_->emit(Op::real_part, part, now));
      set(im, b_->emit(Op::imag_part, part, now));
    });
    Value s = number(b_->emit(Op::make_complex, t, get(re), get(im)), t);
    if (name == "mean") return binary(n, Op::divide, s, cast(n, integer(size_of(a)), part));
    return s;
  }
  if (name == "sum" || name == "prod") {
    DType out = is_float(t) ? t : kind(t) == Kind::UInt ? DType::U64 : DType::I64;
    // Half floats add up in float32.
    DType held = out == DType::F16 ? DType::F32 : out;
    Val s = new_variable(held);
    set(s, constant(held, name == "prod"));
    Val r = over(s, [&](Val old, const Value& e) {
      return b_->emit(name == "sum" ? Op::add : Op::multiply, held, old, as(e, held));
    });
    return cast(n, number(r, held), out);
  }
  if (name == "mean") {
    DType out = is_float(t) ? t : DType::F64;
    Value s = reduce(n, "sum", is_float(t) ? a : cast(n, a, DType::F64), {});
    return binary(n, Op::divide, cast(n, s, out), cast(n, integer(size_of(a)), out));
  }
  if (name == "var" || name == "std") {
    Value in_memory = a;
    if (a.lazy && !u_.options.kernel) in_memory = materialise(n, a);
    Value m = reduce(n, "mean", in_memory, {});
    std::vector<Val> shape(in_memory.shape().begin(), in_memory.shape().end());
    Value square = lazy(m.type.dtype, shape, [this, in_memory, m, &n](std::span<const Val> at) {
      Value d = binary(n, Op::subtract, cast(n, element(in_memory, at), m.type.dtype), m);
      return binary(n, Op::multiply, d, d);
    });
    Value v = reduce(n, "mean", square, {});
    return name == "std" ? unary(n, Op::sqrt, v) : v;
  }
  if (name == "any" || name == "all" || name == "count_nonzero") {
    if (name == "count_nonzero") {
      Val s = new_variable(DType::I64);
      set(s, ci(0));
      Val r = over(s, [&](Val old, const Value& e) {
        return b_->emit(Op::add, DType::I64, old, b_->cast(truth(n, e), DType::I64));
      });
      return number(r, DType::I64);
    }
    Val s = new_variable(DType::Bool);
    set(s, b_->constant(DType::Bool, Scalar::from_bool(name == "all")));
    Val r = over(s, [&](Val old, const Value& e) {
      return b_->emit(name == "any" ? Op::logical_or : Op::logical_and, DType::Bool, old,
                      truth(n, e));
    });
    return number(r, DType::Bool);
  }
  // min, max and where they are: begin with the first element.
  bool largest = name == "max" || name == "argmax" || name == "amax";
  when(b_->emit(Op::equal, DType::Bool, size_of(a), ci(0)),
       [&] { raise_at(site(n, "ValueError", "zero-size array to reduction operation " + name)); });
  if (!arg) {
    std::vector<Val> first(a.type.ndim, ci(0));
    Val s = new_variable(t);
    set(s, element(a, first).v[0]);
    Val r = over(s, [&](Val old, const Value& e) {
      return b_->emit(largest ? Op::maximum : Op::minimum, t, old, e.v[0]);
    });
    return number(r, t);
  }
  std::vector<Val> first(a.type.ndim, ci(0));
  Val best = new_variable(t), where = new_variable(DType::I64), at_now = new_variable(DType::I64);
  set(best, element(a, first).v[0]);
  set(where, ci(0));
  set(at_now, ci(0));
  each(a.shape(), [&](std::span<const Val> at) {
    Val e = element(a, at).v[0];
    Val better = b_->emit(largest ? Op::greater : Op::less, DType::Bool, e, get(best));
    // The first NaN wins, as in NumPy.
    if (is_float(t))
      better = b_->emit(Op::logical_or, DType::Bool, better,
                        both(b_->emit(Op::isnan, DType::Bool, e),
                             negate(b_->emit(Op::isnan, DType::Bool, get(best)))));
    set(best, b_->emit(Op::select, t, better, e, get(best)));
    set(where, b_->emit(Op::select, DType::I64, better, get(at_now), get(where)));
    set(at_now, add(get(at_now), ci(1)));
  });
  return number(get(where), DType::I64);
}

}  // namespace numbus::frontend
