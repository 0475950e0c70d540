// NumPy's functions that make arrays, inside compiled functions.
#include <cmath>
#include <unordered_map>

#include "frontend/lower.h"

namespace numbus::frontend {

std::vector<Val> Lower::shape_argument(const Node& n, const Value& v) {
  if (v.type.is_integer()) return {index_value(n, v)};
  if (!v.type.is(Type::Tag::Tuple))
    fail(n, "a shape is an integer or a tuple of integers; got " + name(v.type));
  std::vector<Val> shape;
  for (const Value& i : v.items) shape.push_back(index_value(n, i));
  return shape;
}

Value Lower::from_items(const Node& n, const std::vector<Value>& items, std::optional<DType> t,
                        bool strong) {
  // Nested tuples of numbers, of one length at each depth.
  std::vector<int64_t> shape;
  std::vector<Value> flat;
  std::function<void(const std::vector<Value>&, size_t)> walk = [&](const std::vector<Value>& level,
                                                                    size_t depth) {
    if (shape.size() <= depth) shape.push_back(static_cast<int64_t>(level.size()));
    if (shape[depth] != static_cast<int64_t>(level.size())) fail(n, "rows of different lengths");
    for (const Value& i : level) {
      if (i.type.is(Type::Tag::Tuple))
        walk(i.items, depth + 1);
      else if (i.type.is_number())
        flat.push_back(i);
      else if (i.type.is_array() && i.type.ndim == 0)
        flat.push_back(element(i, {}));
      else if (i.type.is_array() && i.type.ndim == 1 && !i.lazy && constant_of(i.shape()[0])) {
        std::vector<Value> row;
        int64_t length = *constant_of(i.shape()[0]);
        for (int64_t k = 0; k < length; ++k) row.push_back(element(i, std::vector<Val>{ci(k)}));
        walk(row, depth + 1);
      } else
        not_yet(n, "an array from " + name(i.type));
    }
  };
  walk(items, 0);
  Type common;
  for (const Value& i : flat) {
    Type wider, own = i.type;
    own.weak = own.weak && !strong;
    if (!join(common, own, wider)) refuse_beyond();
    common = wider;
  }
  DType to = t ? *t : common.unknown() ? DType::F64 : common.dtype;
  std::vector<Val> extents;
  for (int64_t s : shape) extents.push_back(ci(s));
  Value r = allocate(to, extents);
  for (size_t k = 0; k < flat.size(); ++k)
    write_at(to, cast(n, flat[k], to).v[0], r.v[0], ci(static_cast<int64_t>(k) * itemsize(to)),
             ir::Space::Global);
  return r;
}

// np.array([x, y]) of arrays of one shape.
Value Lower::array_of_rows(const Node& n, const std::vector<Value>& rows, std::optional<DType> t) {
  Type common;
  for (const Value& r : rows) {
    Type wider;
    if (r.type.ndim != rows[0].type.ndim)
      fail(n, "rows of different dimensions: " + name(rows[0].type) + " and " + name(r.type));
    join(common, Type::number_of(r.type.dtype), wider);
    common = wider;
  }
  std::vector<Val> shape{ci(static_cast<int64_t>(rows.size()))};
  for (Val e : rows[0].shape()) shape.push_back(e);
  for (const Value& r : rows)
    for (size_t d = 0; d < r.type.ndim; ++d)
      when(b_->emit(Op::not_equal, DType::Bool, r.shape()[d], shape[d + 1]), [&] {
        raise_at(site(n, "ValueError",
                      "setting an array element with a sequence: rows of {0} and of {1} elements"),
                 shape[d + 1], r.shape()[d]);
      });
  Value all = allocate(t.value_or(common.dtype), shape);
  for (size_t k = 0; k < rows.size(); ++k)
    fill(n, view(n, all, {known_integer(static_cast<int64_t>(k))}), rows[k]);
  return all;
}

// What `copy` says to np.array.
Lower::Copies Lower::copies_argument(const Node& n, const Value& copy) {
  if (copy.type.is(Type::Tag::None)) return Copies::Needed;
  asks_for(copy);
  if (!copy.type.is_number() || !copy.known) not_yet(n, "copy= that is not a constant");
  return copy.known->real() != 0 ? Copies::Always : Copies::Never;
}

Value Lower::converted_copy(const Node& n, const Value& a, DType t, Order order) {
  Value copy = lazy(t, a.shape(), [this, a, t, &n](std::span<const Val> at) {
    return cast(n, element(a, at), t);
  });
  copy.type.order = order;
  return materialise(n, copy);
}

// An array of a number in each element, or of what broadcasts to it.
Value Lower::filled(const Node& n, DType t, std::span<const Val> shape, const Value& with) {
  if (with.type.is_array()) {
    if (u_.options.kernel)
      not_yet(n, "arrays that a kernel makes as it runs", "cuda.local.array(shape, dtype)");
    Value r = allocate(t, shape);
    fill(n, r, with);
    return r;
  }
  return lazy(t, shape, [this, t, with, &n](std::span<const Val>) { return cast(n, with, t); });
}

// Zero or one.
Value Lower::filling(DType t, bool one) {
  return from_scalar(is_float(t) || is_complex(t) ? Scalar::from_float(one) : Scalar::from_int(one),
                     t, false);
}

// zeros, ones, empty, full.
Value Lower::numpy_full(const Call& c, const std::string& name) {
  const Node& n = c.n;
  const Value* shape = c.get(0, "shape");
  if (!shape) fail(n, "np." + name + " needs a shape");
  bool is_full = name == "full";
  auto t = dtype_argument(c, is_full ? 2 : 1, "dtype");
  std::vector<Val> extents = shape_argument(n, *shape);
  if (name == "empty") {
    if (u_.options.kernel)
      not_yet(n, "arrays that a kernel makes as it runs", "cuda.local.array(shape, dtype)");
    return allocate(t.value_or(DType::F64), extents);
  }
  Value with = filling(t.value_or(DType::F64), name == "ones");
  if (is_full) {
    const Value* v = c.get(1, "fill_value");
    if (!v) fail(n, "np.full needs a fill value");
    with = *v;
    if (!t) t = v->type.dtype;
    with.type.weak = false;
  }
  return materialise(n, filled(n, t.value_or(DType::F64), extents, with));
}

Value Lower::numpy_full_like(const Call& c, const std::string& name) {
  const Node& n = c.n;
  if (c.args.empty()) fail(n, "np." + name + " needs an array");
  const Value a = as_array(n, c.args[0]);
  bool is_full = name == "full_like";
  DType t = dtype_argument(c, is_full ? 2 : 1, "dtype").value_or(a.type.dtype);
  std::vector<Val> extents(a.shape().begin(), a.shape().end());
  const Value* fill_value = is_full ? c.get(1, "fill_value") : nullptr;
  if (is_full && !fill_value) fail(n, "np.full_like needs a fill value");
  if (name == "empty_like") return allocate(t, extents, kept_order(a));
  Value with = is_full ? *fill_value : filling(t, name == "ones_like");
  with.type.weak = false;
  Value made = filled(n, t, extents, with);
  if (made.lazy) made.type.order = kept_order(a);
  return materialise(n, made);
}

// How many values a range of numbers has.
Val Lower::length_of_range(const Node& n, const Value& start, const Value& stop,
                           const Value& step) {
  Value span = binary(n, Op::subtract, stop, start);
  if (span.unknown() || step.unknown()) return ci(0);
  auto raise = [&](Val condition, const char* text) {
    when(condition, [&] { raise_at(site(n, "ValueError", text)); }, {}, ir::kRare);
  };
  const char* const too_long = "Maximum allowed size exceeded";
  const DType within = span.type.dtype == DType::U64 ? DType::U64 : DType::I64;
  const bool whole = !is_float(span.type.dtype);
  const Val zero = ci(0);
  if (whole && !is_float(step.type.dtype)) {
    Val s = as(step, DType::I64), way = as(span, DType::I64);
    Val up = less(as(start, within), as(stop, within));
    if (constant_of(s) == 1) {
      const bool from_zero = start.known && start.known->real() == 0;
      if (!from_zero) raise(both(up, less(way, zero)), too_long);
      return b_->emit(Op::maximum, DType::I64, way, zero);
    }
    if (constant_of(s).value_or(0) == 0)
      when(
          b_->emit(Op::equal, DType::Bool, s, zero),
          [&] { raise_at(site(n, "ZeroDivisionError", "division by zero")); }, {}, ir::kRare);
    // Distances of more than half of the integers are unsigned numbers.
    Val forward = less(zero, s), down = less(as(stop, within), as(start, within));
    auto unsigned_of = [&](Val v) {
      Val size = b_->emit(Op::select, DType::I64, forward, v, sub(zero, v));
      return b_->cast(size, DType::U64);
    };
    Val one = b_->constant(DType::U64, Scalar::from_int(1));
    Val before = b_->emit(Op::subtract, DType::U64, unsigned_of(way), one);
    Val steps = b_->emit(Op::floor_divide, DType::U64, before, unsigned_of(s));
    Val some = add(b_->cast(steps, DType::I64), ci(1));
    Val any = b_->emit(Op::select, DType::Bool, forward, up, down);
    raise(both(any, less(some, ci(1))), too_long);
    return b_->emit(Op::select, DType::I64, any, some, zero);
  }
  if (whole) {  // of which the difference could wrap
    Val wide = b_->emit(Op::subtract, DType::F64, as(stop, DType::F64), as(start, DType::F64));
    Val wraps = b_->emit(Op::logical_or, DType::Bool,
                         less(b_->constant(DType::F64, Scalar::from_float(0x1p62)), wide),
                         less(wide, b_->constant(DType::F64, Scalar::from_float(-0x1p62))));
    Val exact = as(span, DType::F64);
    span = number(b_->emit(Op::select, DType::F64, wraps, wide, exact), DType::F64);
  }
  // Of NumPy's float32, in float32.
  Value quotient = cast(n, binary_numbers(n, Op::divide, span, step), DType::F64);
  Value q = unary(n, Op::ceil, quotient);
  Val length = as(q, DType::F64);
  raise(b_->emit(Op::not_equal, DType::Bool, length, length), "arange: cannot compute length");
  auto bound = [&](double x) { return b_->constant(DType::F64, Scalar::from_float(x)); };
  raise(b_->emit(Op::logical_or, DType::Bool, less(bound(0x1p62), length),
                 less(length, bound(-0x1p63))),
        too_long);
  Val count = as(cast(n, q, DType::I64), DType::I64);
  // A quotient that is too small for its type leaves room for the start.
  Val reach = as(span, DType::F64), way = as(step, DType::F64), none = bound(0);
  Val same = b_->emit(Op::equal, DType::Bool, less(reach, none), less(way, none));
  Val lost = both(b_->emit(Op::equal, DType::Bool, as(quotient, DType::F64), none),
                  b_->emit(Op::not_equal, DType::Bool, reach, none));
  count = b_->emit(Op::select, DType::I64, both(lost, same), ci(1), count);
  return b_->emit(Op::maximum, DType::I64, count, zero);
}

// OverflowError for a number that an integer type cannot hold, where it is asked for.
void Lower::expect_room(const Node& n, const Value& v, DType t, Val asked) {
  if (v.unknown() || v.type.dtype == t || v.type.dtype == DType::Bool) return;
  if (t == DType::I64 && !is_float(v.type.dtype)) return;
  Val x = as(v, DType::F64);
  const bool has_sign = is_signed(t);
  const int bits = 8 * itemsize(t) - (has_sign ? 1 : 0);
  auto bound = [&](double y) { return b_->constant(DType::F64, Scalar::from_float(y)); };
  const double below = has_sign ? -std::ldexp(1.0, bits) : 0.0;
  // Truncated: what is between the least number and one below it fits as well.
  Val low = t == DType::I64 ? less(x, bound(below))
                            : b_->emit(Op::less_equal, DType::Bool, x, bound(below - 1));
  Val high = less(x, bound(std::ldexp(1.0, bits)));
  Val outside = b_->emit(Op::logical_or, DType::Bool, low, negate(high));
  when(
      both(asked, outside),
      [&] { raise_at(site(n, "OverflowError", "arange: a value is out of bounds of the dtype")); },
      {}, ir::kRare);
}

Value Lower::numpy_arange(const Call& c, const std::string& name) {
  const Node& n = c.n;
  expect(c, name, 1, 4);
  Value start = known_integer(0), step = known_integer(1), stop = c.args[0];
  if (c.args.size() > 1) {
    start = c.args[0];
    stop = c.args[1];
  }
  if (c.args.size() > 2) step = c.args[2];
  for (const Value& v : {start, stop, step})
    if (!v.unknown() && v.type.is_array() && v.type.ndim > 0)
      fail(n, "np.arange takes numbers; got " + frontend::name(v.type));
  for (const Value& v : {start, stop, step})
    if (v.type.is_number() && is_complex(v.type.dtype)) not_yet(n, "np.arange of complex numbers");
  auto t = dtype_argument(c, 3, "dtype");
  // NumPy asks the numbers for their types as it asks a list for its, of int64 at least.
  DType found = DType::I64;
  for (const Value& v : c.args)
    if (v.type.is_number()) found = promote(found, v.type.dtype);
  found = t.value_or(found);
  const Val count = length_of_range(n, start, stop, step);
  if (found == DType::Bool) {
    when(
        less(ci(2), count),
        [&] { raise_at(site(n, "TypeError", "arange of bool has at most 2 values")); }, {},
        ir::kRare);
    const Value one = cast(n, start, found), two = cast(n, binary(n, Op::add, start, step), found);
    return lazy(found, std::vector<Val>{count}, [this, one, two, &n](std::span<const Val> at) {
      return choose(n, b_->emit(Op::equal, DType::Bool, at[0], ci(0)), one, two);
    });
  }
  if (is_integer(found)) {
    expect_room(n, start, found, less(ci(0), count));
    expect_room(n, binary(n, Op::add, start, step), found, less(ci(1), count));
  }
  Value first = cast(n, start, found), delta = cast(n, step, found), second;
  // NumPy takes the step from the first two values, both rounded to the type; float16 in float32.
  const DType within = computed_in(found);
  if (is_float(start.type.dtype) || is_float(step.type.dtype) || is_float(found)) {
    second = cast(n, binary(n, Op::add, start, step), found);
    delta =
        cast(n, binary(n, Op::subtract, cast(n, second, within), cast(n, first, within)), within);
  }
  // The first two are what they are, also where rounded sums differ or the step is infinite.
  const bool simple =
      !is_float(found) || (found != DType::F16 && first.known && first.known->real() == 0 &&
                           !std::signbit(first.known->real()) && step.known);
  return lazy(
      found, std::vector<Val>{count},
      [this, first, second, delta, found, within, simple, &n](std::span<const Val> at) {
        Value i = cast(n, integer(at[0]), within);
        Value r =
            cast(n, binary(n, Op::add, cast(n, first, within), binary(n, Op::multiply, i, delta)),
                 found);
        if (simple) return r;
        Value two = choose(n, b_->emit(Op::equal, DType::Bool, at[0], ci(0)), first, second);
        return choose(n, less(at[0], ci(2)), two, r);
      });
}

// Of numbers.
Value Lower::numpy_linspace(const Call& c, const std::string& /*name*/) {
  const Node& n = c.n;
  const Value* count = c.get(2, "num");
  Val num = count ? index_value(n, *count) : ci(50);
  // Of the ends' type, where they are floats of NumPy's, and computed in it.
  DType out = DType::F64;
  bool strong = false;
  for (const Value& end : {c.args.at(0), c.args.at(1)}) {
    if (!end.type.weak) out = strong ? promote(out, end.type.dtype) : end.type.dtype;
    strong = strong || !end.type.weak;
  }
  out = weak_result(out, Kind::Float);
  Value start = cast(n, c.args.at(0), out), stop = cast(n, c.args.at(1), out);
  const Value* endpoint = c.get(3, "endpoint");
  if (endpoint) asks_for(*endpoint);
  if (endpoint && !endpoint->known) not_yet(n, "np.linspace with an endpoint= of run time");
  bool ends = !endpoint || endpoint->known->real() != 0;
  Val steps = ends ? sub(num, ci(1)) : num;
  Value last = cast(n, integer(b_->emit(Op::maximum, DType::I64, steps, ci(1))), out);
  Value step = binary(n, Op::divide, binary(n, Op::subtract, stop, start), last);
  return lazy(out, std::vector<Val>{num},
              [this, start, stop, step, num, ends, out, &n](std::span<const Val> at) {
                Value i = cast(n, integer(at[0]), out);
                Value v = binary(n, Op::add, binary(n, Op::multiply, i, step), start);
                if (!ends) return v;
                // The last one is exact.
                Val end = both(b_->emit(Op::equal, DType::Bool, at[0], sub(num, ci(1))),
                               less(ci(1), num));
                return choose(n, end, stop, v);
              });
}

Value Lower::numpy_eye(const Call& c, const std::string& name) {
  const Node& n = c.n;
  Val rows = index_value(n, c.args.at(0));
  const Value* m = name == "eye" ? c.get(1, "M") : nullptr;
  Val columns = m && !m->type.is(Type::Tag::None) ? index_value(n, *m) : rows;
  DType t = dtype_argument(c, name == "eye" ? 3 : 1, "dtype").value_or(DType::F64);
  const Value* diagonal = name == "eye" ? c.get(2, "k") : nullptr;
  Val k = diagonal ? index_value(n, *diagonal) : ci(0);
  return lazy(t, std::vector<Val>{rows, columns}, [this, t, k](std::span<const Val> at) {
    Val on = b_->emit(Op::equal, DType::Bool, add(at[0], k), at[1]);
    return number(b_->emit(Op::cast, t, on), t);
  });
}

// array, asarray, ascontiguousarray.
Value Lower::numpy_array(const Call& c, const std::string& name) {
  const Node& n = c.n;
  if (c.args.empty()) fail(n, "np." + name + " needs a value");
  auto t = dtype_argument(c, 1, "dtype");
  const Value& a = c.args[0];
  // Whether a copy is made: always, never (then needing one is an error), or where it is needed.
  Copies copies = name == "array" ? Copies::Always : Copies::Needed;
  if (const Value* copy = c.keyword("copy")) copies = copies_argument(n, *copy);
  auto made = [&](Value v) {
    if (copies == Copies::Never)
      when(b_->constant(DType::Bool, Scalar::from_bool(true)), [&] {
        raise_at(
            site(n, "ValueError", "Unable to avoid copy while creating an array as requested."));
      });
    return v;
  };
  if (a.type.is(Type::Tag::Tuple)) {
    bool rows = !a.items.empty();
    for (const Value& i : a.items) rows = rows && i.type.is_array() && i.type.ndim;
    if (rows && (!is_plain_list(a.items[0]) || a.items[0].type.ndim != 1))
      return made(array_of_rows(n, a.items, t));
    return made(from_items(n, a.items, t, true));
  }
  if (a.type.is_number()) {
    Value v = a;
    DType to = t.value_or(a.type.dtype);
    return made(materialise(n, filled(n, to, {}, v)));
  }
  if (a.type.is(Type::Tag::List) && a.type.items[0].is(Type::Tag::List)) {
    Value rows = call_function({n, {a}, {}}, u_.program.library("array of lists"));
    return rows.unknown() || !t || *t == rows.type.dtype ? made(rows)
                                                         : made(converted_copy(n, rows, *t));
  }
  if (!a.type.is_array()) not_yet(n, "an array from " + frontend::name(a.type));
  if (name == "ascontiguousarray" && a.type.ndim == 0) {
    Call line{n, c.args, c.keywords};
    line.args[0] = reshape(n, a, {known_integer(1)});
    return numpy_array(line, name);
  }
  const bool same_type = !t || *t == a.type.dtype;
  if (copies != Copies::Always && !a.lazy && a.type.text != "list" && same_type)
    return name == "ascontiguousarray" ? dense(n, a) : a;
  Value copy = converted_copy(n, a, t.value_or(a.type.dtype),
                              name == "ascontiguousarray" ? Order::C : kept_order(a));
  return a.lazy && same_type ? copy : made(copy);
}

}  // namespace numbus::frontend
