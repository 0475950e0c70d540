// Reductions of arrays inside functions, over all elements or along one axis.
#include <algorithm>
#include <array>

#include "frontend/reduction_lanes.h"

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

// Of an axis: its stride, its extent, and what a caller keeps beside them.
using Axis = std::array<Val, 3>;

// Axes in the order of their strides, the largest first, which for Order::Any are known at run time
// only. `swaps`: whether two axes of equal strides are exchanged; none: they never do.
void sort_by_stride(ir::Builder& b, std::vector<Axis>& axes, Order order,
                    const std::function<Val(const Axis& outer, const Axis& inner)>& swaps = {}) {
  if (order == Order::F) std::ranges::reverse(axes);
  if (order != Order::Any) return;
  auto test = [&](Op op, Val x, Val y) { return b.emit(op, DType::Bool, x, y); };
  for (size_t i = 1; i < axes.size(); ++i)
    for (size_t d = i; d > 0; --d) {
      Axis &outer = axes[d - 1], &inner = axes[d];
      Val x = b.emit(Op::absolute, DType::I64, outer[0]),
          y = b.emit(Op::absolute, DType::I64, inner[0]), swap = test(Op::less, x, y);
      if (swaps)
        swap = test(Op::logical_or, swap,
                    test(Op::logical_and, test(Op::equal, x, y), swaps(outer, inner)));
      for (size_t k = 0; k < outer.size(); ++k) {
        Val first = outer[k], second = inner[k];
        outer[k] = b.emit(Op::select, b.type(first), swap, second, first);
        inner[k] = b.emit(Op::select, b.type(first), swap, first, second);
      }
    }
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
  std::optional<Value> mask, out;
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
      if (!number_known())
        asks_for(*v), not_yet(c.n, "np." + name + " with a keepdims= of run time");
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
    } else if (word == "where") {
      if (!number_known() || v->known->real() == 0) mask = *v;
    } else if (word == "out") {
      const bool alone = v->type.is(Type::Tag::Tuple) && v->items.size() == 1;
      out = alone ? v->items[0] : *v;
      if (!out->type.is_array()) fail(c.n, "np." + name + " with an out= that is no array");
    } else {
      not_yet(c.n, "np." + name + " with " + word + "=");
    }
  }
  Value of = a;
  std::optional<Val> axis;
  if (r.axis && r.axis->type.is_integer() && !known_int(*r.axis) && a.type.is_array() &&
      a.type.ndim) {
    if (mask) not_yet(c.n, "np." + name + " with where= and an axis= of run time");
    axis = axis_of_run_time(c.n, name, *r.axis, a.type.ndim);
    of = with_axis_moved(a.lazy ? materialise(c.n, a) : a, *axis, false);
    r.axis = known_integer(-1);
  }
  Value result = mask ? reduce_where(c.n, r, of, *mask) : reduce(c.n, r, of);
  if (axis && r.keepdims && !result.unknown()) result = with_axis_moved(result, *axis, true);
  return out && !result.unknown() ? stored_result(c.n, name, result, *out) : result;
}

// An axis that is known at run time only, from 0 on.
Val Lower::axis_of_run_time(const Node& n, const std::string& name, const Value& axis,
                            size_t ndim) {
  Val given = index_value(n, axis), all = ci(static_cast<int64_t>(ndim));
  Val k = b_->emit(Op::select, DType::I64, less(given, ci(0)), add(given, all), given);
  Val outside = b_->emit(Op::logical_or, DType::Bool, less(k, ci(0)), negate(less(k, all)));
  u_.bases["numpy.exceptions.AxisError"] = {"ValueError", "IndexError", "LookupError", "Exception",
                                            "BaseException"};
  when(outside, [&] {
    raise_at(site(n, "numpy.exceptions.AxisError",
                  "[" + name + "] axis {0} is out of bounds for array of dimension {1}"),
             given, all);
  });
  return k;
}

// A view whose last axis is the named one, and the others before it in their order; `back`: one
// whose named axis is the last of `a`.
Value Lower::with_axis_moved(const Value& a, Val axis, bool back) {
  const size_t ndim = a.type.ndim;
  Value r = a;
  if (ndim < 2) return r;
  r.type.order = Order::Any;
  for (size_t part : {size_t{2}, 2 + ndim})  // extents and strides
    for (size_t d = 0; d < ndim; ++d) {
      Val here = ci(static_cast<int64_t>(d)), moved = a.v[part + d];
      if (back) {
        if (d) moved = b_->emit(Op::select, DType::I64, less(axis, here), a.v[part + d - 1], moved);
        moved = b_->emit(Op::select, DType::I64, b_->emit(Op::equal, DType::Bool, axis, here),
                         a.v[part + ndim - 1], moved);
      } else if (d + 1 < ndim) {
        moved = b_->emit(Op::select, DType::I64, less(here, axis), moved, a.v[part + d + 1]);
      } else {
        for (size_t from = 0; from + 1 < ndim; ++from)
          moved = b_->emit(Op::select, DType::I64,
                           b_->emit(Op::equal, DType::Bool, axis, ci(static_cast<int64_t>(from))),
                           a.v[part + from], moved);
      }
      r.v[part + d] = moved;
    }
  return r;
}

// A result in the array that out= names, of its type and shape.
Value Lower::stored_result(const Node& n, const std::string& name, const Value& result,
                           const Value& out) {
  if (result.type.dtype != out.type.dtype)
    not_yet(n, "np." + name + " with an out= of another type than the result");
  const size_t ndim = result.type.is_array() ? result.type.ndim : 0;
  Val differs = b_->constant(DType::Bool, Scalar::from_bool(ndim != out.type.ndim));
  if (ndim == out.type.ndim)
    for (size_t d = 0; d < ndim; ++d)
      differs = b_->emit(Op::logical_or, DType::Bool, differs,
                         b_->emit(Op::not_equal, DType::Bool, result.shape()[d], out.shape()[d]));
  when(differs, [&] {
    raise_at(
        site(n, "ValueError", "np." + name + " with an out= of another shape than the result"));
  });
  if (ndim == out.type.ndim) fill(n, out, result);
  return out;
}

// Elements that a mask leaves out count as what changes nothing.
Value Lower::reduce_where(const Node& n, const Reduction& r, const Value& given,
                          const Value& where) {
  if (given.unknown() || where.unknown()) return {};
  const Value a = as_array(n, given), mask = where.type.is_number() ? where : as_array(n, where);
  const std::string& name = r.name;
  if (mask.type.dtype != DType::Bool)
    fail(n, "np." + name + " with a where= of " + frontend::name(mask.type) + "; expected bool");
  if (mask.type.is_array() && mask.type.ndim > a.type.ndim)
    fail(n, "np." + name + " with a where= of more axes than the array");
  if ((name == "min" || name == "max") && !r.initial)
    fail(n, "np." + name + " with where= needs a starting value, initial=");
  bool known = true;
  auto only = [&](const Value& v, const Value& instead) {
    Value kept = call_numpy({n, {mask, v, instead}, {}}, "where", known);
    for (size_t d = 0; d < a.type.ndim; ++d)
      if (kept.shape()[d] != a.shape()[d])
        when(b_->emit(Op::not_equal, DType::Bool, kept.shape()[d], a.shape()[d]), [&] {
          raise_at(site(n, "ValueError", "where= has an extent of {0}, the array one of {1}"),
                   kept.shape()[d], a.shape()[d]);
        });
    return kept;
  };
  auto number_of = [&](int64_t k, DType t) {
    return numpy_number(n, from_scalar(Scalar::from_int(k), DType::I64, true), t);
  };
  const DType t = a.type.dtype;
  const bool spread = name == "var" || name == "std";
  if (name != "mean" && !spread)
    return reduce(
        n, r,
        only(a, r.initial ? name == "min" || name == "max" ? numpy_number(n, *r.initial, t)
                                                           : number_of(name == "prod", t)
                          : number_of(name == "prod" || name == "all", t)));
  // The sum of those over their number; of the squares of what they are off it, for a variance.
  const DType out = r.dtype.value_or(result_of(spread ? "mean" : name, t));
  if (spread && r.dtype && is_complex(t) != is_complex(out))
    not_yet(n, "np." + name + " of complex numbers with where= and a dtype= of another kind");
  if (spread && !is_float(out) && !is_complex(out))
    not_yet(n, "np." + name + " with a dtype= that is no float");
  Reduction sum = r;
  sum.name = "sum";
  sum.dtype = !r.dtype ? computed_in(out) : out;
  sum.ddof.reset();
  Reduction counted = sum;
  counted.dtype = DType::F64;
  Value ones = lazy(DType::F64, a.shape(),
                    [number_of](std::span<const Val>) { return number_of(1, DType::F64); });
  const Value zero = number_of(0, DType::F64);
  auto mean_of_sum = [&](bool keepdims) {
    sum.keepdims = counted.keepdims = keepdims;
    Value total = reduce(n, sum, only(a, number_of(0, t)));
    Value many = reduce(n, counted, only(ones, zero));
    return cast(n, binary(n, Op::divide, total, many), spread ? *sum.dtype : out);
  };
  if (!spread) return mean_of_sum(r.keepdims);
  const DType real = real_of(*sum.dtype);
  Value off = binary(n, Op::subtract, cast(n, a, *sum.dtype), mean_of_sum(true));
  if (off.lazy) off = materialise(n, off);
  auto square = [&](Op part) {
    std::vector<Val> shape(off.shape().begin(), off.shape().end());
    Value x = lazy(real, shape, [this, off, part, real](std::span<const Val> at) {
      Value e = element(off, at);
      return is_complex(e.type.dtype) ? number(b_->emit(part, real, e.v[0]), real) : e;
    });
    return binary(n, Op::multiply, x, x);
  };
  Value squares = square(Op::real_part);
  if (is_complex(*sum.dtype)) squares = binary(n, Op::add, squares, square(Op::imag_part));
  sum.dtype = real;
  sum.keepdims = counted.keepdims = r.keepdims;
  Value total = reduce(n, sum, only(squares, number_of(0, real)));
  Value many = reduce(n, counted, only(ones, zero));
  if (r.ddof) many = binary(n, Op::subtract, many, cast(n, *r.ddof, DType::F64));
  many = binary(n, Op::maximum, many, zero);
  Value variance = cast(n, binary(n, Op::divide, total, many), real_of(out));
  return name == "std" ? unary(n, Op::sqrt, variance) : variance;
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
    if (!k) {
      const bool number = v.type.is_integer();
      if (number) not_yet(n, "np." + r.name + " with axes of run time", "a number in the call");
      fail(n, "an axis is an integer; got " + frontend::name(v.type));
    }
    const bool counts = r.name == "mean" || r.name == "var" || r.name == "std";
    if (ndim == 0 && !several && !counts && (*k == 0 || *k == -1)) return axes;
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

void Lower::expect_elements(const Node& n, const std::string& name, Val count) {
  when(b_->emit(Op::equal, DType::Bool, count, ci(0)),
       [&] { raise_at(site(n, "ValueError", "zero-size array to reduction operation " + name)); });
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
  std::vector<Val> shape;
  std::vector<size_t> left;
  for (size_t d = 0; d < a.type.ndim; ++d) {
    bool over = std::ranges::find(axes, d) != axes.end();
    if (!over) shape.push_back(a.shape()[d]);
    if (over && r.keepdims) shape.push_back(ci(1));
    if (!over) left.push_back(shape.size() - 1);
  }
  if (const auto kind = reduction_named(r.name); kind && needs_elements(*kind) && !r.initial) {
    Val reduced = ci(1);
    for (size_t d : axes) reduced = mul(reduced, a.shape()[d]);
    expect_elements(n, r.name, reduced);
  }
  Reduction whole = r;
  whole.axis.reset();
  whole.keepdims = false;
  if (!u_.options.kernel) whole.one_by_one = sums_columns(r, a, axes);
  DType out =
      r.dtype && r.name != "any" && r.name != "all" ? *r.dtype : result_of(r.name, a.type.dtype);
  if (r.name == "var" || r.name == "std") out = real_of(out);
  Value result = lazy(out, shape, [=, this, &n](std::span<const Val> at) {
    std::vector<Val> others;
    for (size_t d : left) others.push_back(at[d]);
    return reduce_all(n, whole, line_of(a, axes, others));
  });
  return materialise(n, result);
}

// sum, prod, min, max, any, all, mean, var, std, argmin, argmax, count_nonzero of all elements.
Value Lower::reduce_all(const Node& n, const Reduction& how, const Value& given) {
  const std::string& name = how.name;
  Value a = given;
  DType t = a.type.dtype;
  const bool converts =
      how.dtype && name != "mean" && name != "var" && name != "std" && *how.dtype != t;
  if (converts && is_complex(t) && !is_complex(*how.dtype))
    not_yet(n, "np." + name + " of complex numbers with a real dtype=");
  if (converts) t = *how.dtype;
  if (how.dtype == DType::Bool) {
    if (name == "sum" || name == "prod") {
      Reduction truth_of = how;
      truth_of.name = name == "sum" ? "any" : "all";
      truth_of.dtype.reset(), truth_of.initial.reset();
      Value r = reduce_all(n, truth_of, a);
      if (!how.initial) return r;
      Val first = truth(n, *how.initial);
      return number(b_->emit(name == "sum" ? Op::logical_or : Op::logical_and, DType::Bool,
                             truth(n, r), first),
                    DType::Bool);
    }
    not_yet(n, "np." + name + " with a dtype= of bool");
  }

  if (name == "mean") return mean_of(n, how, a);
  if (name == "std") {
    Reduction squared = how;
    squared.name = "var";
    return unary(n, Op::sqrt, reduce_all(n, squared, a));
  }
  if (name == "var" && is_complex(t)) return spread_of_complex(n, how, a);
  const bool count = name == "count_nonzero";
  const auto kind = *reduction_named(count ? "sum" : name);
  if (is_complex(t) && needs_position(kind)) {
    if (u_.options.kernel) not_yet(n, "." + name + " of complex arrays in a kernel");
    if (a.type.ndim == 0) return number(ci(0), DType::I64);
    expect_elements(n, name, size_of(a));
    Value most = from_scalar(Scalar::from_bool(name == "argmax"), DType::Bool, true);
    const Value r =
        call_function({n, {a, most}, {}}, u_.program.library("index of complex extreme"));
    return r.unknown() ? r : number(as(r, DType::I64), DType::I64);  // NumPy's number
  }
  if (name == "var" && how.dtype && !is_float(*how.dtype))
    not_yet(n, "np." + name + " with a dtype= that is no float");
  const ReductionTypes types = resolve(kind, count ? DType::I64 : t, how.dtype);
  if (needs_elements(kind) && !how.initial) expect_elements(n, name, size_of(a));

  using Steps = ir::ReductionSteps;
  using Element = reductions::Element<Steps>;
  Steps m(*b_, types.loop);
  std::function<Element(const Value&)> parts = [&](const Value& given_element) -> Element {
    Value e = given_element;
    if (converts) e = cast(n, e, t);
    if (count) return {b_->cast(truth(n, e), types.loop), ir::kNone};
    if (types.loop == DType::Bool) return {truth(n, e), ir::kNone};
    if (!is_complex(types.loop)) return {as(e, types.loop), ir::kNone};
    Val z = cast(n, e, types.loop).v[0];
    return {b_->emit(Op::real_part, m.type, z), b_->emit(Op::imag_part, m.type, z)};
  };
  Value result = reductions::with(types.kind, [&]<numbus::Reduction K>() {
    using Lanes = ReductionLanes<K>;
    std::vector<Val> held;
    for (DType field : reduction_fields(K, types.loop)) held.push_back(new_variable(field));
    const Walk walk = walk_over(a);
    auto in_order = [&](bool few) {
      Lanes(*this, m, types.loop, walk, parts, held).one_by_one(few);
    };
    auto in_lanes = [&] {
      if (!a.lazy) return Lanes(*this, m, types.loop, walk, parts, held).run(true);
      // Where operands are repeated, an element is no simple function of its number.
      unless_repeated(
          a.lazy->repeated, [&] { Lanes(*this, m, types.loop, walk, parts, held).run(false); },
          [&] { Lanes(*this, m, types.loop, walk_over(a, true), parts, held).run(true); });
    };
    // What array calls add up in order, too.
    Val serial = how.one_by_one;
    if (needs_position(K) || short_rows_in_order(K, is_complex(types.loop))) {
      Val few = less(size_of(a), ci(ir::kShortRow + 1));
      serial = serial == ir::kNone ? few : b_->emit(Op::logical_or, DType::Bool, serial, few);
    }
    const bool plain = how.in_order || u_.options.kernel || u_.options.fastmath || a.type.ndim == 0;
    if (plain)
      in_order(false);
    else if (serial == ir::kNone)
      in_lanes();
    else
      when(serial, [&] { in_order(how.one_by_one == ir::kNone); }, in_lanes);
    auto s = Lanes(*this, m, types.loop, walk, parts, held).state();
    if constexpr (needs_position(K)) {
      return number(s.index, types.result);
    } else {
      Val ddof = m.zero();
      if (how.ddof) ddof = as(cast(n, *how.ddof, m.type), m.type);
      const Element e = reductions::finish<K>(m, s, ddof);
      Val v = is_complex(types.loop) ? b_->emit(Op::make_complex, types.loop, e.re, e.im) : e.re;
      return cast(n, number(v, types.loop), types.result);
    }
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
  Reduction sum = how;
  sum.name = "sum";
  sum.dtype = !how.dtype ? computed_in(out) : out;
  Value s = reduce_all(n, sum, a);
  Value count =
      cast(n, integer(size_of(a)),
           is_float(*sum.dtype) || is_complex(*sum.dtype) ? real_of(*sum.dtype) : DType::F64);
  return cast(n, binary(n, Op::divide, s, count), out);
}

// The variances of the parts add.
Value Lower::spread_of_complex(const Node& n, const Reduction& how, const Value& a) {
  if (how.dtype) not_yet(n, "np." + how.name + " with a dtype= of complex numbers");
  const DType part = real_of(a.type.dtype);
  std::vector<Val> shape(a.shape().begin(), a.shape().end());
  auto variance = [&](Op of) {
    if (!a.lazy) {  // as the array call: over a view, in the order of its strides
      Value view = a;
      view.type = Type::array_of(part, a.type.ndim, Order::Any);
      view.type.space = a.type.space;
      if (of == Op::imag_part) view.v[0] = add(a.v[0], ci(itemsize(part)));
      return reduce_all(n, how, view);
    }
    return reduce_all(n, how, lazy(part, shape, [this, a, part, of](std::span<const Val> at) {
                        return number(b_->emit(of, part, element(a, at).v[0]), part);
                      }));
  };
  Value re = variance(Op::real_part);
  return binary(n, Op::add, re, variance(Op::imag_part));
}

// The elements in the order of their strides, the largest first; what has none, in NumPy's.
// as_line: nothing that it is made of is repeated.
Lower::Walk Lower::walk_over(const Value& a, bool as_line) {
  Walk w;
  const size_t ndim = a.type.ndim;
  w.extents.assign(a.shape().begin(), a.shape().end());
  if (as_line && a.lazy && a.lazy->dense && ndim > 1) {
    w.extents = {size_of(a)};
    w.element = [this, a, ndim](std::span<const Val> at) {
      std::vector<Val> all(ndim, ci(0));
      all.back() = at[0];
      return element(a, all);
    };
    return w;
  }
  if (a.lazy || ndim < 2 || u_.options.kernel) {
    w.element = [this, a, ndim](std::span<const Val> at) { return element(a, at.first(ndim)); };
    if (ndim == 0) w.extents = {ci(1)};
    return w;
  }
  auto read = [this, a](Val offset) {
    Value r = read_at(a.type.dtype, a.v[0], offset, a.type.space);
    r.type.weak = a.type.weak;
    return r;
  };
  if (a.type.order == Order::C) {
    w.extents = {size_of(a)};
    w.element = [this, a, read](std::span<const Val> at) {
      return read(mul(at[0], ci(itemsize(a.type.dtype))));
    };
    return w;
  }
  std::vector<Axis> axes(ndim);
  Val weight = ci(1);
  for (size_t d = ndim; d-- > 0; weight = mul(weight, a.shape()[d]))
    axes[d] = {a.strides()[d], a.shape()[d], weight};
  sort_by_stride(*b_, axes, a.type.order);
  std::vector<Val> strides;
  w.extents.clear();
  for (const Axis& x : axes) {
    strides.push_back(x[0]);
    w.extents.push_back(x[1]);
    w.weights.push_back(x[2]);
  }
  w.element = [this, read, strides](std::span<const Val> at) {
    Val offset = ci(0);
    for (size_t d = 0; d < at.size(); ++d) offset = add(offset, mul(at[d], strides[d]));
    return read(offset);
  };
  return w;
}

// What is reduced for one element of the result, whose indices are `others`.
Value Lower::line_of(const Value& a, std::span<const size_t> axes, std::span<const Val> others) {
  Value line = a;
  Val first = a.v[0];
  std::vector<Val> shape, strides;
  for (size_t d = 0, inside = 0, outside = 0; d < a.type.ndim; ++d) {
    if (inside < axes.size() && axes[inside] == d) {
      ++inside;
      shape.push_back(a.shape()[d]);
      strides.push_back(a.strides()[d]);
    } else {
      first = add(first, mul(others[outside++], a.strides()[d]));
    }
  }
  line.type.ndim = static_cast<uint8_t>(axes.size());
  line.type.order = axes.empty() ? Order::C : Order::Any;
  line.type.owned = line.type.aligned = false;
  line.type.text.clear();
  line.v = {first, ci(0)};
  line.v.insert(line.v.end(), shape.begin(), shape.end());
  line.v.insert(line.v.end(), strides.begin(), strides.end());
  return line;
}

// Whether array calls take the elements of each result one by one, results being side by side: the
// innermost axis is left, or rows are short and many (KernelBuilder::choose_dimensions).
Val Lower::sums_columns(const Reduction& r, const Value& a, std::span<const size_t> axes) {
  const auto kind = reduction_named(r.name);
  const int64_t short_row = kind && needs_position(*kind) ? ir::kShortPositions : ir::kShortRow;
  auto yes = [&](bool value) { return b_->constant(DType::Bool, Scalar::from_bool(value)); };
  auto pick = [&](Val c, Val x, Val y) { return b_->emit(Op::select, b_->type(x), c, x, y); };
  auto either = [&](Val x, Val y) { return b_->emit(Op::logical_or, DType::Bool, x, y); };
  std::vector<Axis> order;  // with whether they are reduced
  for (size_t d = 0; d < a.type.ndim; ++d)
    order.push_back({a.strides()[d], a.shape()[d], yes(std::ranges::find(axes, d) != axes.end())});
  sort_by_stride(*b_, order, a.type.order, [&](const Axis& outer, const Axis& inner) {
    return both(inner[2], negate(outer[2]));
  });
  // From the innermost axis out; those of one element do not count.
  Val inner_left = yes(false), decided = yes(false), points = ci(1), columns = ci(1),
      going = yes(true), begun = yes(false), step = ci(0);
  for (size_t d = order.size(); d-- > 0;) {
    const auto [stride, extent, reduced] = order[d];
    Val counts = b_->emit(Op::not_equal, DType::Bool, extent, ci(1));
    Val left = negate(reduced);
    inner_left = pick(both(counts, negate(decided)), left, inner_left);
    decided = either(decided, counts);
    points = pick(reduced, mul(points, extent), points);
    Val meets = either(negate(begun), b_->emit(Op::equal, DType::Bool, stride, step));
    Val here = both(counts, left);
    begun = either(begun, here);
    going = pick(here, both(going, meets), going);
    Val extends = both(here, going);
    columns = pick(extends, mul(columns, extent), columns);
    step = pick(extends, mul(stride, extent), step);
  }
  Val few = less(points, ci(short_row + 1)), many = less(ci(ir::kFewColumns - 1), columns);
  return either(inner_left, both(few, many));
}

}  // namespace numbus::frontend
