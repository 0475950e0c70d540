// Reductions of arrays inside functions, over all elements or along one axis.
#include <algorithm>

#include "frontend/lower.h"
#include "ir/reduction_steps.h"

namespace numbus::frontend {

namespace {

// NumPy's parameters after the array, in their order; those from the star on go by name only.
struct Parameters {
  const char* name;
  std::vector<std::string> all;
  size_t positional;
};

const Parameters* parameters_of(const std::string& name) {
  static const std::vector<std::string> kSum = {"axis",     "dtype",   "out",
                                                "keepdims", "initial", "where"},
                                        kMin = {"axis", "out", "keepdims", "initial", "where"},
                                        kAny = {"axis", "out", "keepdims", "where"},
                                        kMean = {"axis", "dtype", "out", "keepdims", "where"},
                                        kVar = {"axis",     "dtype", "out",  "ddof",
                                                "keepdims", "where", "mean", "correction"},
                                        kArg = {"axis", "out", "keepdims"},
                                        kCount = {"axis", "keepdims"};
  static const Parameters kTable[] = {
      {"sum", kSum, 6}, {"prod", kSum, 6},   {"min", kMin, 5},    {"max", kMin, 5},
      {"any", kAny, 3}, {"all", kAny, 3},    {"mean", kMean, 4},  {"var", kVar, 5},
      {"std", kVar, 5}, {"argmin", kArg, 2}, {"argmax", kArg, 2}, {"count_nonzero", kCount, 1}};
  for (const Parameters& p : kTable)
    if (name == p.name) return &p;
  return nullptr;
}

// What a reduction's results are, where the caller names no dtype.
DType result_of(const std::string& name, DType t) {
  if (name == "count_nonzero") return DType::I64;
  if (name == "mean") return is_inexact(t) ? t : DType::F64;
  if (name == "std") return real_of(result_of("var", t));
  const DType result = resolve(*reduction_named(name), t, {}).result;
  return name == "var" ? real_of(result) : result;
}

}  // namespace

// A call of one of NumPy's reductions, by name or as a method; `first`: the argument after the
// array.
Value Lower::reduction(const Call& c, const std::string& name, const Value& a, size_t first) {
  const Parameters& p = *parameters_of(name);
  if (c.args.size() > first + p.positional)
    fail(c.n, name + "() takes " + std::to_string(first + p.positional) + " arguments; got " +
                  std::to_string(c.args.size()));
  Reduction r{name};
  for (const auto& [k, v] : c.keywords)
    if (std::ranges::find(p.all, k) == p.all.end()) not_yet(c.n, "np." + name + " with " + k + "=");
  for (size_t k = 0; k < p.all.size(); ++k) {
    const std::string& word = p.all[k];
    const Value* v = k < p.positional ? c.get(first + k, word) : c.keyword(word);
    if (!v || (v->type.is(Type::Tag::None) && word != "initial")) continue;
    auto number_known = [&] { return v->type.is_number() && v->known; };
    if (word == "axis") {
      r.axis = *v;
    } else if (word == "dtype") {
      r.dtype = dtype_argument(c, first + k, word);
    } else if (word == "keepdims") {
      if (!number_known()) not_yet(c.n, "np." + name + " with a keepdims= of run time");
      r.keepdims = v->known->real() != 0;
    } else if (word == "ddof" || word == "correction") {
      if (!v->type.is_number()) fail(c.n, word + " has to be a number");
      if (r.ddof && word == "correction" && c.get(first + 3, "ddof"))
        fail(c.n, "ddof and correction are the same; give one of them");
      r.ddof = *v;
    } else if (word == "initial") {
      if (v->type.is(Type::Tag::None) && (name == "min" || name == "max")) continue;
      if (!v->type.is_number()) not_yet(c.n, "np." + name + " with initial=None");
      r.initial = *v;
    } else if (!(word == "where" && number_known() && v->known->real() != 0)) {
      not_yet(c.n, "np." + name + " with " + word + "=");
    }
  }
  return reduce(c.n, r, a);
}

// Over all elements.
Value Lower::reduce(const Node& n, const std::string& name, const Value& a) {
  return reduce(n, Reduction{name}, a);
}

// The axes of an array, in ascending order, that a reduction goes over.
std::vector<size_t> Lower::reduced_axes(const Node& n, const Reduction& r, const Value& a) {
  std::vector<size_t> axes;
  const auto ndim = static_cast<int64_t>(a.type.ndim);
  if (!r.axis) {
    for (size_t d = 0; d < a.type.ndim; ++d) axes.push_back(d);
    return axes;
  }
  bool several = r.axis->type.is(Type::Tag::Tuple);
  if (several && (r.name == "argmin" || r.name == "argmax"))
    fail(n, "np." + r.name + " takes one axis; got " + frontend::name(r.axis->type));
  for (const Value& v : several ? r.axis->items : std::vector<Value>{*r.axis}) {
    auto k = known_int(v);
    if (!k) fail(n, "axis has to be a constant");
    if (ndim == 0 && !several && (*k == 0 || *k == -1)) return axes;
    int64_t d = *k < 0 ? *k + ndim : *k;
    if (d < 0 || d >= ndim)
      fail(n, "axis " + std::to_string(*k) + " is out of bounds for " + std::to_string(ndim) +
                  " dimensions");
    if (std::ranges::find(axes, static_cast<size_t>(d)) != axes.end())
      fail(n, "axis " + std::to_string(*k) + " is given twice");
    axes.push_back(static_cast<size_t>(d));
  }
  std::ranges::sort(axes);
  return axes;
}

Value Lower::reduce(const Node& n, const Reduction& r, const Value& given) {
  if (given.unknown()) return {};
  if (!given.type.is_array() && !given.type.is_number())
    given.type.is(Type::Tag::List)
        ? not_yet(n, "np." + r.name + " of a " + frontend::name(given.type),
                  "an array of its items")
        : fail(n, "." + r.name + " needs an array; got " + frontend::name(given.type));
  Value a = given;
  if (given.type.is_number())
    a = lazy(given.type.dtype, {}, [given](std::span<const Val>) { return given; });
  std::vector<size_t> axes = reduced_axes(n, r, a);
  if (axes.size() == a.type.ndim && !(r.keepdims && a.type.ndim)) return reduce_all(n, r, a);
  if (a.lazy) a = materialise(n, a);
  // What is left, and which of its axes an index of the result is for; the others count one.
  std::vector<Val> shape, extent;
  std::vector<size_t> left;
  for (size_t d = 0; d < a.type.ndim; ++d) {
    bool over = std::ranges::find(axes, d) != axes.end();
    (over ? extent : shape).push_back(a.shape()[d]);
    if (over && r.keepdims) shape.push_back(ci(1));
    if (!over) left.push_back(r.keepdims ? d : shape.size() - 1);
  }
  Reduction whole = r;
  whole.axis.reset();
  whole.keepdims = false;
  DType out =
      r.dtype && r.name != "any" && r.name != "all" ? *r.dtype : result_of(r.name, a.type.dtype);
  if (r.name == "var" || r.name == "std") out = real_of(out);
  Value result = lazy(out, shape, [=, this, &n](std::span<const Val> at) {
    std::vector<Val> others;
    for (size_t d : left) others.push_back(at[d]);
    Value line = lazy(a.type.dtype, extent, [=, this](std::span<const Val> i) {
      std::vector<Val> all;
      for (size_t d = 0, inside = 0, outside = 0; d < a.type.ndim; ++d) {
        bool over = inside < axes.size() && axes[inside] == d;
        all.push_back(over ? i[inside++] : others[outside++]);
      }
      return element(a, all);
    });
    return reduce_all(n, whole, line);
  });
  return materialise(n, result);
}

// sum, prod, min, max, any, all, mean, var, std, argmin, argmax, count_nonzero of all elements.
Value Lower::reduce_all(const Node& n, const Reduction& how, const Value& given) {
  const std::string& name = how.name;
  Value a = given;
  DType t = a.type.dtype;
  if (how.dtype && name != "mean" && name != "var" && name != "std" && *how.dtype != t) {
    if (is_complex(t) && !is_complex(*how.dtype))
      not_yet(n, "np." + name + " of complex numbers with a real dtype=");
    a = cast(n, a, *how.dtype);
    t = *how.dtype;
  }
  if (how.dtype == DType::Bool) {
    if (name == "sum" || name == "prod") {
      Value r = reduce(n, name == "sum" ? "any" : "all", a);
      if (!how.initial) return r;
      Val first = truth(n, *how.initial);
      return number(b_->emit(name == "sum" ? Op::logical_or : Op::logical_and, DType::Bool,
                             truth(n, r), first),
                    DType::Bool);
    }
    not_yet(n, "np." + name + " with a dtype= of bool");
  }

  if (name == "mean") return mean_of(n, how, a);
  if (name == "var" || name == "std") return spread_of(n, how, a);
  const bool count = name == "count_nonzero";
  const auto kind = *reduction_named(count ? "sum" : name);
  if (is_complex(t) && needs_position(kind)) not_yet(n, "." + name + " of complex arrays");
  const ReductionTypes types = resolve(kind, count ? DType::I64 : t, how.dtype);
  if (needs_elements(kind) && !how.initial)
    when(b_->emit(Op::equal, DType::Bool, size_of(a), ci(0)), [&] {
      raise_at(site(n, "ValueError", "zero-size array to reduction operation " + name));
    });

  using Steps = ir::ReductionSteps;
  Steps m(*b_, types.loop);
  auto number_at = [&](std::span<const Val> at) -> reductions::Element<Steps> {
    Value e = element(a, at);
    if (count) return {b_->cast(truth(n, e), types.loop), ir::kNone};
    if (types.loop == DType::Bool) return {truth(n, e), ir::kNone};
    if (!is_complex(types.loop)) return {as(e, types.loop), ir::kNone};
    Val z = cast(n, e, types.loop).v[0];
    return {b_->emit(Op::real_part, m.type, z), b_->emit(Op::imag_part, m.type, z)};
  };
  Value result = reductions::with(types.kind, [&]<numbus::Reduction K>() {
    const std::vector<Val> origin(a.type.ndim, ci(0));
    auto s = reductions::init<K>(m);
    if constexpr (needs_position(K)) s.f[0] = number_at(origin).re, s.index = ci(0);
    // The state in variables, and the index of the element that is next.
    const auto types_of = reduction_fields(types.kind, types.loop);
    const auto fields = reductions::fields<K>(m, s);
    std::vector<Val> held;
    for (size_t k = 0; k < fields.size(); ++k) {
      held.push_back(new_variable(types_of[k]));
      set(held[k], *fields[k]);
    }
    Val next = needs_position(K) ? new_variable(DType::I64) : ir::kNone;
    if constexpr (needs_position(K)) set(next, ci(0));
    each(a.shape(), [&](std::span<const Val> at) {
      for (size_t k = 0; k < fields.size(); ++k) *fields[k] = get(held[k]);
      Val place = needs_position(K) ? get(next) : ir::kNone;
      s = reductions::step<K, true>(m, s, number_at(at), place);
      for (size_t k = 0; k < fields.size(); ++k) set(held[k], *fields[k]);
      if constexpr (needs_position(K)) set(next, add(place, ci(1)));
    });
    for (size_t k = 0; k < fields.size(); ++k) *fields[k] = get(held[k]);
    if constexpr (needs_position(K)) return number(s.index, types.result);
    Val v =
        is_complex(types.loop) ? b_->emit(Op::make_complex, types.loop, s.f[0], s.f[1]) : s.f[0];
    return cast(n, number(v, types.loop), types.result);
  });
  if (!how.initial) return result;
  const Op op = kind == numbus::Reduction::Sum    ? Op::add
                : kind == numbus::Reduction::Prod ? Op::multiply
                : kind == numbus::Reduction::Min  ? Op::minimum
                                                  : Op::maximum;
  return cast(n, binary(n, op, result, numpy_number(n, *how.initial, types.result)), types.result);
}

// NumPy's: half floats by way of float32, integers as float64; the caller's dtype is that of the
// sum.
Value Lower::mean_of(const Node& n, const Reduction& how, const Value& a) {
  const DType t = a.type.dtype, out = how.dtype.value_or(result_of("mean", t));
  Reduction sum{"sum"};
  sum.dtype = !how.dtype && out == DType::F16 ? DType::F32 : out;
  Value s = reduce_all(n, sum, a);
  Value count =
      cast(n, integer(size_of(a)),
           is_float(*sum.dtype) || is_complex(*sum.dtype) ? real_of(*sum.dtype) : DType::F64);
  return cast(n, binary(n, Op::divide, s, count), out);
}

// The mean of the squared distances from the mean, by the number of elements less ddof.
Value Lower::spread_of(const Node& n, const Reduction& how, const Value& given) {
  Value a = given;
  const DType t = a.type.dtype;
  if (how.dtype && (!is_float(*how.dtype) || is_complex(t)))
    not_yet(n, "np." + how.name + " with a dtype= that is no float, or of complex numbers");
  if (a.lazy && !u_.options.kernel) a = materialise(n, a);
  Reduction middle{"mean"};
  middle.dtype = how.dtype;
  Value m = reduce_all(n, middle, a);
  Value d =
      binary(n, Op::subtract, is_integer(t) || t == DType::Bool ? cast(n, a, DType::F64) : a, m);
  std::vector<Val> shape(a.shape().begin(), a.shape().end());
  const DType part = real_of(d.type.dtype);
  Value square = lazy(part, shape, [this, d, part, &n](std::span<const Val> at) {
    // Of an array without axes, arithmetic makes a number.
    Value e = d.type.is_array() ? element(d, at) : d;
    if (!is_complex(e.type.dtype)) return binary(n, Op::multiply, e, e);
    Value re = number(b_->emit(Op::real_part, part, e.v[0]), part),
          im = number(b_->emit(Op::imag_part, part, e.v[0]), part);
    return binary(n, Op::add, binary(n, Op::multiply, re, re), binary(n, Op::multiply, im, im));
  });
  Reduction sum{"sum"};
  const DType out = real_of(how.dtype.value_or(result_of("var", t)));
  sum.dtype = out;
  Value s = reduce_all(n, sum, square);
  Value count = cast(n, integer(size_of(a)), DType::F64);
  if (how.ddof)
    count = binary(n, Op::maximum, binary(n, Op::subtract, count, cast(n, *how.ddof, DType::F64)),
                   from_scalar(Scalar::from_float(0), DType::F64, false));
  Value v = cast(n, binary(n, Op::divide, s, cast(n, count, out)), out);
  return how.name == "std" ? unary(n, Op::sqrt, v) : v;
}

}  // namespace numbus::frontend
