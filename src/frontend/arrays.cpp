// Arrays in memory and arrays that are computed where they are used: elements, views, copies.
#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::lazy(DType t, std::span<const Val> shape,
                  std::function<Value(std::span<const Val>)> at) {
  Value r;
  r.type = Type::array_of(t, static_cast<int>(shape.size()));
  r.v.assign(shape.begin(), shape.end());
  r.lazy = std::make_shared<Lazy>(Lazy{std::move(at), false, {}});
  return r;
}

// The order of an array's copy where it keeps that of the array, as far as its type tells.
Order Lower::kept_order(const Value& a) {
  return a.type.order == Order::F && a.type.ndim > 1 ? Order::F : Order::C;
}

// What `order` means for an array: of none that is given, C.
Order Lower::in_order(const Node& n, const std::string& name, const Value& a, const Value* order) {
  if (!order || order->type.is(Type::Tag::None)) return Order::C;
  const std::string word = order->type.is_text() ? order->type.text : "";
  if (word == "C") return Order::C;
  if (word == "F") return a.type.ndim > 1 ? Order::F : Order::C;
  if (word != "A" && word != "K")
    fail(n, name + "() takes an order of 'C', 'F', 'A', 'K'; got " + frontend::name(order->type),
         "order='C'");
  // An array that is in neither order is copied in C order; functions that list its elements would
  // have to know which order it has.
  if (a.type.order == Order::Any && a.type.ndim > 1 && name != "copy" && name != "astype")
    not_yet(n, name + "() with order='" + word + "' of an array of unknown order", "order='C'");
  return kept_order(a);
}

// Fortran order lists elements as C order does those of the transposed array.
Value Lower::reshape_in_order(const Call& c, const Value& a, const std::vector<Value>& shape,
                              size_t index) {
  const Value* order = c.get(index, "order");
  if (!order) return reshape(c.n, a, shape);
  const Value given = as_array(c.n, a);
  const std::string word = order->type.is_text() ? order->type.text : "";
  if (word == "K") fail(c.n, "reshape() takes an order of 'C', 'F', 'A'; got 'K'", "order='C'");
  if (word != "F" && in_order(c.n, "reshape", given, order) != Order::F)
    return reshape(c.n, given, shape);
  return transpose(reshape(c.n, transpose(given), {shape.rbegin(), shape.rend()}));
}

// A kernel that is checked notes who uses the memory that its threads share.
void Lower::watch(ir::Access how, DType t, Val base, Val offset, Val value, ir::Space space) {
  if (!checks_threads() || space != ir::Space::Shared) return;
  intrinsic(ir::Intrinsic::watch, t, add(base, offset), value, ir::kNone, space,
            ir::watched_access(how, site_of(*here_)));
}

Value Lower::read_at(DType t, Val base, Val offset, ir::Space space) {
  if (!is_complex(t)) {
    watch(ir::Access::Read, t, base, offset, ir::kNone, space);
    return number(b_->emit(Op::read, t, base, offset, ir::kNone, static_cast<int64_t>(space)), t);
  }
  DType part = real_of(t);
  Val re = read_at(part, base, offset, space).v[0];
  Val im = read_at(part, base, add(offset, ci(itemsize(part))), space).v[0];
  return number(b_->emit(Op::make_complex, t, re, im), t);
}

void Lower::write_at(DType t, Val v, Val base, Val offset, ir::Space space) {
  if (!is_complex(t)) {
    watch(ir::Access::Write, t, base, offset, v, space);
    b_->emit(Op::write, t, v, base, offset, static_cast<int64_t>(space));
    return;
  }
  DType part = real_of(t);
  write_at(part, b_->emit(Op::real_part, part, v), base, offset, space);
  write_at(part, b_->emit(Op::imag_part, part, v), base, add(offset, ci(itemsize(part))), space);
}

Value Lower::element(const Value& a, std::span<const Val> at) {
  if (a.lazy) {
    Value r = a.lazy->at(at);
    r.type.weak = false;
    return r;
  }
  Val offset = ci(0);
  for (size_t d = 0; d < at.size(); ++d) offset = add(offset, mul(at[d], a.strides()[d]));
  Value r = read_at(a.type.dtype, a.v[0], offset, a.type.space);
  r.type.weak = a.type.weak;
  return r;
}

void Lower::set_element(const Node& n, const Value& a, std::span<const Val> at, const Value& v) {
  written_ |= a.origin;
  Val offset = ci(0);
  for (size_t d = 0; d < at.size(); ++d) offset = add(offset, mul(at[d], a.strides()[d]));
  if (v.unknown()) return;
  Value c = cast(n, v, a.type.dtype);
  write_at(a.type.dtype, c.v[0], a.v[0], offset, a.type.space);
}

// Whether an array may be written to: where it is known that it may not, that is an error of the
// run, as in NumPy.
bool Lower::writable(const Node& n, const Value& a) {
  if (!a.type.is_array() || !a.type.readonly) return true;
  if (a.type.frozen)
    not_yet(n, "writing to a global array, or to one that is read-only on some paths",
            "the array as an argument of the function");
  when(b_->constant(DType::Bool, Scalar::from_bool(true)),
       [&] { raise_at(site(n, "ValueError", "assignment destination is read-only")); });
  return false;
}

// The step of a slice. No longer one than kLongest is needed, and with it bounds and step add up
// within int64.
Val Lower::step_of_slice(const Node& n, const Value& v) {
  constexpr int64_t kLongest = int64_t{1} << 62;
  Val step = index_value(n, v);
  if (v.type.is_number() && v.type.dtype == DType::U64)
    step = b_->emit(Op::select, DType::I64, less(step, ci(0)), ci(kLongest), step);
  auto known = constant_of(step);
  if (known == 0) fail(n, "a slice's step cannot be zero");
  if (known) return ci(std::clamp(*known, -kLongest, kLongest));
  step = b_->emit(Op::maximum, DType::I64, step, ci(-kLongest));
  return b_->emit(Op::minimum, DType::I64, step, ci(kLongest));
}

// Negative indices count from the end, as in Python.
Val Lower::from_end(Val i, Val extent) {
  return b_->emit(Op::select, DType::I64, less(i, ci(0)), add(i, extent), i, ir::kFromEnd);
}

bool Lower::checks_bounds() const {
  const Source* s = scope_ ? scope_->source : nullptr;
  if (s && s->boundscheck && !u_.options.same_for_all) return *s->boundscheck;
  return u_.options.boundscheck || u_.options.debug;
}

// The same, looked at where bounds are checked. `array` is how the source names what is
// indexed.
Val Lower::wrapped(const Node& n, Val i, Val extent, size_t axis, const Node* array) {
  auto k = constant_of(i);
  Val at = i;
  if (k && *k < 0)
    at = add(extent, i);
  else if (!k && u_.options.wraparound)
    at = from_end(i, extent);
  if (checks_bounds()) {
    Val low = less(at, ci(0)), high = negate(less(at, extent));
    auto raise = [&] {
      std::string of = array && array->kind == NodeKind::Name ? " of '" + array->text + "'" : "";
      raise_at(site(n, "IndexError",
                    "index {0} is out of bounds for axis " + std::to_string(axis) + of +
                        " with size {1}"),
               i, extent);
    };
    when(b_->emit(Op::logical_or, DType::Bool, low, high), raise, {}, ir::kBounds);
  }
  return at;
}

void Lower::each(std::span<const Val> shape, const std::function<void(std::span<const Val>)>& body,
                 int64_t mark) {
  std::vector<Val> at;
  std::function<void(size_t)> nest = [&](size_t d) {
    if (d == shape.size()) {
      body(at);
      return;
    }
    Val i = new_variable(DType::I64);
    set(i, ci(0));
    Val loop = begin_loop(mark);
    Val now = get(i);
    when(negate(less(now, shape[d])), [&] { break_loop(loop); });
    at.push_back(now);
    nest(d + 1);
    at.pop_back();
    loop_next(loop);
    set(i, add(get(i), ci(1)));
    end_loop(loop);
  };
  nest(0);
}

Val Lower::size_of(const Value& a) {
  Val n = ci(1);
  for (Val s : a.shape()) n = mul(n, s);
  return n;
}

// The owner of memory for an array of that shape; raises where an extent is negative, or where
// there is not enough.
Val Lower::new_memory(DType t, std::span<const Val> shape) {
  if (u_.options.kernel)
    not_yet(here_ ? *here_ : source_.definition, "arrays that need memory of their own in a kernel",
            "cuda.local.array(shape, dtype), or the array as an argument");
  constexpr int64_t kMost = int64_t{1} << 62;  // bytes
  Val bytes = ci(itemsize(t)), negative = ir::kNone, large = ir::kNone;
  auto either = [&](Val a, Val b) {
    return a == ir::kNone ? b : b_->emit(Op::logical_or, DType::Bool, a, b);
  };
  // One extent that is not known is compared with what is left; more are multiplied as floats, too.
  size_t open = 0;
  for (Val s : shape) open += !constant_of(s);
  double known = itemsize(t);
  Val product = ir::kNone;
  for (Val s : shape) {
    bytes = mul(bytes, s);
    if (auto k = constant_of(s)) {
      known *= static_cast<double>(*k);
      if (*k < 0) negative = either(negative, b_->constant(DType::Bool, Scalar::from_bool(true)));
      continue;
    }
    negative = either(negative, less(s, ci(0)));
    Val extent = open > 1 ? b_->cast(s, DType::F64) : s;
    product = product == ir::kNone ? extent : b_->emit(Op::multiply, DType::F64, product, extent);
  }
  if (open == 0 && std::abs(known) > static_cast<double>(kMost))
    large = b_->constant(DType::Bool, Scalar::from_bool(true));
  if (open == 1 && known != 0)
    large =
        less(ci(static_cast<int64_t>(static_cast<double>(kMost) / std::max(known, 1.0))), product);
  if (open > 1)
    large = b_->emit(Op::less, DType::Bool,
                     b_->constant(DType::F64, Scalar::from_float(static_cast<double>(kMost) /
                                                                 std::max(known, 1.0))),
                     product);
  if (large != ir::kNone || negative != ir::kNone)
    bytes = b_->emit(
        Op::select, DType::I64,
        large == ir::kNone ? negative : either(large, negative == ir::kNone ? large : negative),
        ci(-1), bytes);
  Val owner = intrinsic(ir::Intrinsic::allocate, DType::I64, bytes);
  const Node& at = here_ ? *here_ : source_.definition;
  when(b_->emit(Op::equal, DType::Bool, owner, ci(0)), [&] {
    if (negative != ir::kNone)
      when(negative,
           [&] { raise_at(site(at, "ValueError", "negative dimensions are not allowed")); });
    raise_at(site(at, "MemoryError", ""));
  });
  return owner;
}

Value Lower::allocate(DType t, std::span<const Val> shape, Order order) {
  Value r;
  r.type = Type::array_of(t, static_cast<int>(shape.size()), order);
  r.type.owned = true;
  Val owner = new_memory(t, shape);
  r.v = {intrinsic(ir::Intrinsic::data_of, DType::I64, owner), owner};
  r.v.insert(r.v.end(), shape.begin(), shape.end());
  size_t n = shape.size();
  std::vector<Val> strides(n);
  Val step = ci(itemsize(t));
  for (size_t k = 0; k < n; ++k) {
    const size_t d = order == Order::F ? k : n - 1 - k;
    strides[d] = step;
    step = mul(step, shape[d]);
  }
  r.v.insert(r.v.end(), strides.begin(), strides.end());
  // The temporary lives until its statement ends, or until it is made anew in a loop.
  own(owner);
  r.origin = own_origin();
  return r;
}

Value Lower::materialise(const Node& n, const Value& v) {
  if (!v.lazy) return v;
  if (u_.options.kernel)
    not_yet(n, "arrays that a kernel makes as it runs",
            "write a loop over elements, or use cuda.local.array(shape, dtype)");
  Value r = allocate(v.type.dtype, v.shape(), v.type.order);
  r.type.text = v.type.text;
  // In the order in which the elements lie.
  const bool reversed = v.type.order == Order::F;
  std::vector<Val> extents(v.shape().begin(), v.shape().end());
  if (reversed) std::ranges::reverse(extents);
  each_of(v.lazy->narrow, extents, [&](std::span<const Val> steps) {
    std::vector<Val> at(steps.begin(), steps.end());
    if (reversed) std::ranges::reverse(at);
    Value e = element(v, at);
    if (!e.unknown()) set_element(n, r, at, e);
  });
  r.type.readonly = v.type.readonly;
  return r;
}

std::vector<Val> Lower::broadcast(const Node& n, std::span<const Value> args) {
  size_t ndim = 0;
  for (const Value& a : args)
    if (a.type.is_array()) ndim = std::max<size_t>(ndim, a.type.ndim);
  std::vector<Val> shape(ndim, ci(1));
  for (const Value& a : args) {
    if (!a.type.is_array()) continue;
    size_t skip = ndim - a.type.ndim;
    for (size_t d = 0; d < a.type.ndim; ++d) {
      Val &to = shape[skip + d], extent = a.shape()[d];
      auto known = constant_of(to), mine = constant_of(extent);
      if (to == extent || mine == 1) continue;
      if (known == 1) {
        to = extent;
        continue;
      }
      if (known && mine)
        fail(n, "shapes cannot be broadcast: " + std::to_string(*known) + " and " +
                    std::to_string(*mine));
      // One of them may be 1: the other counts; anything else is the user's mistake.
      Val one = b_->emit(Op::equal, DType::Bool, to, ci(1));
      Val fits = b_->emit(
          Op::logical_or, DType::Bool, one,
          b_->emit(Op::logical_or, DType::Bool, b_->emit(Op::equal, DType::Bool, to, extent),
                   b_->emit(Op::equal, DType::Bool, extent, ci(1))));
      Val before = to;
      when(negate(fits), [&] {
        raise_at(
            site(n, "ValueError", "operands could not be broadcast together: extents {0} and {1}"),
            before, extent);
      });
      to = b_->emit(Op::select, DType::I64, one, extent, to);
    }
  }
  for (const Value& a : args)
    if (a.type.is_array() && a.lazy && a.lazy->gathers) expect_read(a, shape);
  return shape;
}

// Where an array is repeated no times at all, none of its elements is read, but its indices count.
void Lower::expect_read(const Value& a, std::span<const Val> shape) {
  size_t skip = shape.size() - a.type.ndim;
  Val none = ir::kNone;
  for (size_t d = 0; d < shape.size(); ++d) {
    auto known = constant_of(shape[d]);
    if ((known && *known) || (d >= skip && shape[d] == a.shape()[d - skip])) continue;
    Val zero = b_->emit(Op::equal, DType::Bool, shape[d], ci(0));
    none = none == ir::kNone ? zero : b_->emit(Op::logical_or, DType::Bool, none, zero);
  }
  if (none == ir::kNone) return;
  when(none, [&] { each(a.shape(), [&](std::span<const Val> at) { element(a, at); }); });
}

std::vector<Val> Lower::repeats(const Value& a, std::span<const Val> shape) {
  std::vector<Val> all;
  if (!a.type.is_array()) return all;
  size_t skip = shape.size() - a.type.ndim;
  for (size_t d = 0; d < a.type.ndim; ++d) {
    Val extent = a.shape()[d];
    bool fixed = constant_of(extent).has_value() || extent == shape[skip + d];
    all.push_back(fixed ? ir::kNone : b_->emit(Op::equal, DType::Bool, extent, ci(1)));
  }
  return all;
}

Value Lower::broadcast_element(const Value& a, std::span<const Val> at, size_t ndim,
                               const std::vector<Val>& repeated) {
  if (!a.type.is_array()) return a;
  size_t skip = ndim - a.type.ndim;
  auto repeats = [&](size_t d) {
    Val one = repeated[d];
    return one != ir::kNone && std::ranges::find(excluded_, one) == excluded_.end();
  };
  std::vector<Val> mine;
  for (size_t d = 0; d < a.type.ndim; ++d) {
    bool single = constant_of(a.shape()[d]) == 1;
    Val i = single ? ci(0) : at[skip + d];
    if (a.lazy && repeats(d)) i = b_->emit(Op::select, DType::I64, repeated[d], ci(0), i);
    mine.push_back(i);
  }
  if (a.lazy) return element(a, mine);
  // In memory, such an extent is a stride of zero.
  Val offset = ci(0);
  for (size_t d = 0; d < a.type.ndim; ++d) {
    Val stride = a.strides()[d];
    if (repeats(d)) stride = b_->emit(Op::select, DType::I64, repeated[d], ci(0), stride);
    offset = add(offset, mul(mine[d], stride));
  }
  return read_at(a.type.dtype, a.v[0], offset, a.type.space);
}

// A loop over a shape in two versions: one where none of these conditions holds, which is usual.
void Lower::each_of(const std::vector<Val>& narrow, std::span<const Val> shape,
                    const std::function<void(std::span<const Val>)>& body) {
  unless_repeated(narrow, [&] { each(shape, body); }, [&] { each(shape, body); });
}

// One of two forms of some code: whether any of these conditions holds; the second one is made
// knowing that none does.
void Lower::unless_repeated(const std::vector<Val>& conditions,
                            const std::function<void()>& repeated,
                            const std::function<void()>& plain) {
  Val any = ir::kNone;
  for (Val one : conditions)
    any = any == ir::kNone ? one : b_->emit(Op::logical_or, DType::Bool, any, one);
  if (any == ir::kNone) return plain();
  size_t before = excluded_.size();
  when(any, repeated, [&] {
    excluded_.insert(excluded_.end(), conditions.begin(), conditions.end());
    plain();
    excluded_.resize(before);
  });
}

std::pair<Val, Val> Lower::reach(const Value& a) {
  Val low = a.v[0], high = add(a.v[0], ci(itemsize(a.type.dtype)));
  for (size_t d = 0; d < a.type.ndim; ++d) {
    Val last = mul(sub(a.shape()[d], ci(1)), a.strides()[d]);
    low = add(low, b_->emit(Op::minimum, DType::I64, last, ci(0)));
    high = add(high, b_->emit(Op::maximum, DType::I64, last, ci(0)));
  }
  return {low, high};
}

Value Lower::copied_where_shared(const Node& n, const Value& from, const Value& to) {
  auto [low, high] = reach(from);
  auto [first, end] = reach(to);
  Val overlap = b_->emit(Op::logical_and, DType::Bool, less(low, end), less(first, high));
  // Where the copy is lies in variables; a dense one has the strides that were there.
  Value source = from;
  std::vector<size_t> changed{0};
  if (from.type.order != Order::C)
    for (size_t d = 0; d < from.type.ndim; ++d) changed.push_back(2 + from.type.ndim + d);
  std::vector<Val> slots;
  for (size_t i : changed) slots.push_back(new_variable(DType::I64, from.v[i]));
  when(overlap, [&] {
    Value copy = materialise(n, lazy(from.type.dtype, from.shape(),
                                     [&](std::span<const Val> at) { return element(from, at); }));
    for (size_t i = 0; i < changed.size(); ++i) set(slots[i], copy.v[changed[i]]);
  });
  for (size_t i = 0; i < changed.size(); ++i) source.v[changed[i]] = get(slots[i]);
  return source;
}

void Lower::fill(const Node& n, const Value& to, const Value& from) {
  if (from.unknown() || !writable(n, to)) return;
  if (from.type.is(Type::Tag::Tuple)) return fill(n, to, as_array(n, from));
  if (!from.type.is_array()) {
    if (!from.type.is_number())
      fail(n, "cannot assign " + name(from.type) + " to " + name(to.type));
    each(to.shape(), [&](std::span<const Val> at) { set_element(n, to, at, from); });
    return;
  }
  // All that is read is read before anything is written.
  Value source = fitted(n, reads_own_indices(from, to) ? from : apart(n, from, to), to.type.ndim);
  size_t ndim = to.type.ndim, skip = ndim - source.type.ndim;
  for (size_t d = 0; d < source.type.ndim; ++d) {
    Val mine = source.shape()[d], extent = to.shape()[skip + d];
    if (mine == extent || constant_of(mine) == 1) continue;
    Val fits = b_->emit(Op::logical_or, DType::Bool, b_->emit(Op::equal, DType::Bool, mine, extent),
                        b_->emit(Op::equal, DType::Bool, mine, ci(1)));
    when(negate(fits), [&] {
      raise_at(site(n, "ValueError", "could not broadcast an extent of {0} into one of {1}"), mine,
               extent);
    });
  }
  std::vector<Val> repeated = repeats(source, to.shape()), narrow;
  if (source.lazy) narrow = source.lazy->narrow;
  if (ndim == 1 && source.type.ndim == 1 && repeated[0] != ir::kNone) narrow.push_back(repeated[0]);
  each_of(narrow, to.shape(), [&](std::span<const Val> at) {
    set_element(n, to, at, broadcast_element(source, at, ndim, repeated));
  });
}

// What is assigned may have more axes in front, of extents of one; by index arrays also of others,
// where the last axes have no elements: NumPy reshapes to these.
Value Lower::fitted(const Node& n, const Value& from, size_t ndim, bool by_arrays) {
  if (!from.type.is_array() || from.type.ndim <= ndim) return from;
  Value source = from.lazy ? materialise(n, from) : from;
  size_t more = from.type.ndim - ndim;
  Val rest = ci(1);
  if (by_arrays)
    for (Val extent : source.shape().subspan(more)) rest = mul(rest, extent);
  for (size_t d = 0; d < more; ++d) {
    Val extent = source.shape()[d];
    Val misfit = b_->emit(Op::not_equal, DType::Bool, mul(extent, rest), rest);
    when(misfit, [&] {
      raise_at(site(n, "ValueError", "could not broadcast an extent of {0} into no axis"), extent);
    });
  }
  // Without a test of the index 0, as an axis without elements may be one of these.
  source.type.ndim = static_cast<uint8_t>(ndim);
  source.v.erase(source.v.begin() + 2 + from.type.ndim,
                 source.v.begin() + 2 + from.type.ndim + more);
  source.v.erase(source.v.begin() + 2, source.v.begin() + 2 + more);
  if (source.type.order == Order::F && ndim > 1) source.type.order = Order::Any;
  source.type.text.clear();
  source.type.aligned = false;
  return source;
}

}  // namespace numbus::frontend
