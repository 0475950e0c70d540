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
  // Copies of what lies in neither are in C order. Where elements are listed, it matters.
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

// The same, looked at where bounds are checked. `array` is how the source names what is
// indexed.
Val Lower::wrapped(const Node& n, Val i, Val extent, size_t axis, const Node* array) {
  auto k = constant_of(i);
  Val at = i;
  if (k && *k < 0)
    at = add(extent, i);
  else if (!k && u_.options.wraparound)
    at = from_end(i, extent);
  if (u_.options.boundscheck || u_.options.debug) {
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

// --- indexing
// -------------------------------------------------------------------------------------

// An array has an axis for each of these indices.
void Lower::expect_axes(const Node& n, const Value& a, std::span<const Value> indices) {
  size_t used = 0;
  for (const Value& i : indices) {
    bool mask = i.type.is_array() && i.type.dtype == DType::Bool;
    if (!i.type.is(Type::Tag::NewAxis) && !i.type.is(Type::Tag::Ellipsis))
      used += mask ? i.type.ndim : 1;
  }
  if (used > a.type.ndim)
    fail(n, "too many indices: " + name(a.type) + " has " + std::to_string(a.type.ndim) +
                " dimensions, but " + std::to_string(used) + " were indexed");
}

Value Lower::subscript(const Node& n) {
  Value a = maybe_none(*n.one(Field::value));
  if (a.unknown()) return {};
  Value by = maybe_none(*n.one(Field::slice));
  a = some(n, a, "'NoneType' object is not subscriptable");
  if (a.unknown()) return {};
  // To arrays None is a new axis, and to dicts a key.
  if (a.type.is(Type::Tag::List) || is_plain_list(a) || a.type.is(Type::Tag::Tuple) ||
      a.type.is_text())
    by = some(n, by, "indices must be integers or slices, not NoneType");
  refuse_none(n, by, "as an index");
  return index(n, a, by);
}

Value Lower::index_tuple(const Node& n, const Value& t, const Value& by) {
  int64_t size = static_cast<int64_t>(t.items.size());
  if (by.type.is(Type::Tag::Slice)) {
    auto part = [&](const Value& v, int64_t none) -> int64_t {
      if (v.type.is(Type::Tag::None)) return none;
      auto k = v.type.is_integer() ? known_int(v) : std::nullopt;
      if (!k) fail(n, "a tuple's slice has to be constant");
      return *k;
    };
    // As slice.indices() in CPython.
    int64_t step = part(by.items[2], 1);
    if (step == 0) fail(n, "a slice's step cannot be zero");
    int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size;
    auto bound = [&](const Value& v, int64_t none) {
      int64_t k = part(v, none);
      if (v.type.is(Type::Tag::None)) return k;
      return std::clamp(k < 0 ? k + size : k, least, most);
    };
    int64_t low = bound(by.items[0], step < 0 ? most : least),
            high = bound(by.items[1], step < 0 ? least : most);
    // No longer step is needed, and this one cannot overflow.
    step = std::clamp(step, -size - 1, size + 1);
    Value r;
    r.type = Type::of(Type::Tag::Tuple);
    r.type.listed = t.type.listed;
    for (int64_t i = low; step < 0 ? i > high : i < high; i += step) {
      r.items.push_back(t.items[i]);
      r.type.items.push_back(t.items[i].type);
    }
    return r;
  }
  if (auto k = known_int(by)) {
    int64_t i = *k < 0 ? *k + size : *k;
    if (i < 0 || i >= size)
      fail(n, "index " + std::to_string(*k) + " is out of bounds for a tuple of " +
                  std::to_string(size));
    return t.items[i];
  }
  // An index known only at run time: items of one type.
  const bool others = t.type.listed && !t.items.empty() && !t.items[0].type.is_number();
  if (others && becomes_list(n)) return {};
  Val i = wrapped(n, index_value(n, by), ci(size), 0, array_node(n));
  if (t.items.empty()) return known_integer(0);  // never read: no index is inside
  Value r = t.items[0];
  for (int64_t k = 1; k < size; ++k)
    r = choose(n, b_->emit(Op::equal, DType::Bool, i, ci(k)), t.items[k], r);
  r.known.reset();
  return r;
}

// To NumPy, True and False are masks without axes.
void Lower::expect_no_bool(const Node& n, const Value& i) {
  if (of_user() && i.type.dtype == DType::Bool &&
      (i.type.is_number() || (i.type.is_array() && !i.type.ndim)))
    not_yet(n, "a bool as an index of an array", "int(i)");
}

// types.float64[:, ::1]
Value Lower::array_type(const Node& n, const Value& of, const Value& by) {
  std::vector<Value> axes = by.type.is(Type::Tag::Tuple) ? by.items : std::vector<Value>{by};
  auto dense = [&](const Value& s) { return known_int(s.items[2]) == 1; };
  for (const Value& s : axes)
    if (!s.type.is(Type::Tag::Slice))
      fail(n, "a type of arrays is written with slices", "types.float64[:, :]");
  Value r;
  r.type = Type::of(Type::Tag::DType);
  Type t = Type::array_of(of.type.dtype, static_cast<int>(axes.size()),
                          dense(axes.back())    ? Order::C
                          : dense(axes.front()) ? Order::F
                                                : Order::Any);
  t.owned = true;
  r.type.items = {t};
  return r;
}

Value Lower::index(const Node& n, const Value& a, const Value& by) {
  here_ = &n;
  if (a.unknown() || by.unknown()) return {};
  if (is_records(a)) return index_records(n, a, by);
  if (a.type.is(Type::Tag::Dict)) return read_dict(n, a, by);
  if (a.type.is(Type::Tag::DType) && a.type.items.empty()) return array_type(n, a, by);
  if (a.type.is(Type::Tag::Iterator) && a.type.text == "flat")
    return element_of_flat(n, a.items[0], by);
  const bool sequence =
      a.type.is(Type::Tag::List) || is_plain_list(a) || a.type.is(Type::Tag::Tuple);
  const bool number = by.type.is_integer() || (by.type.is_array() && by.type.ndim == 0);
  if (of_user() && sequence && !number && !by.type.is(Type::Tag::Slice))
    fail(n, "indices of lists and tuples are integers or slices; got " + name(by.type));
  if (a.type.is(Type::Tag::Tuple)) return index_tuple(n, a, by);
  if (a.type.is(Type::Tag::List)) {
    if (by.type.is(Type::Tag::Slice)) return slice_of_list(n, a, by);
    Val at = wrapped(n, index_value(n, by), list_length(a), 0, array_node(n));
    return read_item(a, at);
  }
  if (is_plain_list(a) && by.type.is(Type::Tag::Slice)) {
    Type item = Type::number_of(a.type.dtype, a.type.weak);
    return slice_of_list(n, to_list(n, a, item), by);
  }
  if (!a.type.is_array()) {
    if (a.type.is_text()) return index_text(n, a, by);
    // NumPy's numbers have no axes to index.
    if (a.type.is_number() && !a.type.weak && by.type.is(Type::Tag::Tuple) && by.items.empty())
      return a;
    const bool whole = by.type.is_integer() && !(by.type.dtype == DType::Bool && of_user());
    if (a.type.is_number() && !a.type.weak && !whole && !by.type.is(Type::Tag::Slice))
      not_yet(n, "a number as an array without axes", "np.array(x)");
    fail(n, name(a.type) + " cannot be indexed");
  }
  std::vector<Value> list = by.type.is(Type::Tag::Tuple) ? by.items : std::vector<Value>{by};
  for (Value& i : list) {
    i = copied(n, i);
    if (i.type.is(Type::Tag::None)) i.type = Type::of(Type::Tag::NewAxis);
    expect_no_bool(n, i);
  }
  bool whole = true, fancy = false;
  for (const Value& i : list) {
    if (i.unknown()) return {};
    whole = whole && i.type.is_number();
    fancy = fancy || i.type.is_array();
  }
  expect_axes(n, a, list);
  if (whole && list.size() == a.type.ndim) {
    std::vector<Val> at;
    for (size_t d = 0; d < list.size(); ++d)
      at.push_back(wrapped(n, index_value(n, list[d]), a.shape()[d], d, array_node(n)));
    return element(a, at);
  }
  if (!fancy) return view(n, a.lazy ? materialise(n, a) : a, list);
  // One integer array, and slices: read where it is used. A mask: what it selects, counted first.
  if (list.size() == 1 && list[0].type.dtype == DType::Bool && list[0].type.ndim == a.type.ndim) {
    const Value mask = list[0].lazy ? materialise(n, list[0]) : list[0];
    expect_mask(n, mask, a.shape(), 0);
    Val count = new_variable(DType::I64);
    set(count, ci(0));
    each(mask.shape(), [&](std::span<const Val> at) {
      Val one = b_->emit(Op::cast, DType::I64, element(mask, at).v[0]);
      set(count, b_->emit(Op::add, DType::I64, get(count), one));
    });
    std::vector<Val> shape{get(count)};
    if (u_.options.kernel) not_yet(n, "a mask as an index in a kernel", "use an if statement");
    Value r = allocate(a.type.dtype, shape);
    set(count, ci(0));
    each(mask.shape(), [&](std::span<const Val> at) {
      when(element(mask, at).v[0], [&] {
        Val next = get(count);
        set_element(n, r, std::vector<Val>{next}, element(a, at));
        set(count, b_->emit(Op::add, DType::I64, next, ci(1)));
      });
    });
    return r;
  }
  return gather(n, a, list);
}

Value Lower::view(const Node& n, const Value& a, const std::vector<Value>& given) {
  size_t used = 0;
  bool dots = false;
  for (const Value& i : given) {
    dots = dots || i.type.is(Type::Tag::Ellipsis);
    if (!i.type.is(Type::Tag::NewAxis) && !i.type.is(Type::Tag::Ellipsis)) ++used;
  }
  std::vector<Value> by;
  Value all;
  all.type = Type::of(Type::Tag::Ellipsis);
  auto rest = [&] {
    for (size_t d = used; d < a.type.ndim; ++d) by.push_back(all);  // stands for one whole axis
  };
  for (const Value& i : given) {
    if (i.type.is(Type::Tag::Ellipsis))
      rest();
    else
      by.push_back(i);
  }
  if (!dots) rest();
  Value r;
  r.type = a.type;
  r.type.text.clear();
  r.origin = a.origin;
  Val base = a.v[0];
  std::vector<Val> shape, strides;
  size_t d = 0;
  // Leading integers, and slices of the first axis left, keep an array dense.
  bool dense = a.type.order == Order::C, fresh = true;
  for (const Value& i : by) {
    if (i.type.is(Type::Tag::NewAxis)) {
      shape.push_back(ci(1));
      strides.push_back(ci(0));
      dense = false;
      continue;
    }
    Val extent = a.shape()[d], stride = a.strides()[d];
    if (i.type.is(Type::Tag::Ellipsis)) {
      shape.push_back(extent);
      strides.push_back(stride);
      fresh = false;
    } else if (i.type.is(Type::Tag::Slice)) {
      Val step = i.items[2].type.is(Type::Tag::None) ? ci(1) : step_of_slice(n, i.items[2]);
      auto known = constant_of(step);
      auto bound = [&](const Value& v, Val none, Val least, Val most) {
        if (v.type.is(Type::Tag::None)) return none;
        Val k = index_value(n, v);
        // Beyond int64 is beyond the end.
        if (v.type.is_number() && v.type.dtype == DType::U64)
          k = b_->emit(Op::select, DType::I64, less(k, ci(0)),
                       ci(std::numeric_limits<int64_t>::max()), k);
        auto fixed = constant_of(k);
        if (fixed == 0 && constant_of(least) == 0) return k;
        Val w = fixed && *fixed >= 0 ? k : from_end(k, extent);
        w = b_->emit(Op::maximum, DType::I64, w, least);
        return b_->emit(Op::minimum, DType::I64, w, most);
      };
      Val start, count;
      if (known && *known > 0) {
        start = bound(i.items[0], ci(0), ci(0), extent);
        Val stop = bound(i.items[1], extent, ci(0), extent);
        Val span = sub(stop, start);
        if (*known > 1)
          span = b_->emit(Op::floor_divide, DType::I64, add(span, ci(*known - 1)), step);
        count = start == ci(0) && stop == extent && *known == 1
                    ? extent
                    : b_->emit(Op::maximum, DType::I64, span, ci(0));
      } else if (known) {
        Val top = sub(extent, ci(1));
        start = bound(i.items[0], top, ci(-1), top);
        Val stop = bound(i.items[1], ci(-1), ci(-1), top);
        Val span = add(sub(start, stop), ci(-*known - 1));
        count = b_->emit(Op::maximum, DType::I64,
                         b_->emit(Op::floor_divide, DType::I64, span, ci(-*known)), ci(0));
      } else {
        when(b_->emit(Op::equal, DType::Bool, step, ci(0)),
             [&] { raise_at(site(n, "ValueError", "slice step cannot be zero")); });
        Val up = less(ci(0), step), top = sub(extent, ci(1));
        auto pick = [&](Val forwards, Val backwards) {
          return b_->emit(Op::select, DType::I64, up, forwards, backwards);
        };
        Val least = pick(ci(0), ci(-1)), most = pick(extent, top);
        start = bound(i.items[0], pick(ci(0), top), least, most);
        Val stop = bound(i.items[1], pick(extent, ci(-1)), least, most);
        Val span = add(sub(stop, start), sub(step, pick(ci(1), ci(-1))));
        count = b_->emit(Op::maximum, DType::I64,
                         b_->emit(Op::floor_divide, DType::I64, span, step), ci(0));
      }
      bool whole = known == 1 && count == extent;
      if (!(whole || (fresh && known == 1))) dense = false;
      fresh = false;
      base = add(base, mul(start, stride));
      shape.push_back(count);
      strides.push_back(mul(stride, step));
    } else {
      Val at = wrapped(n, index_value(n, i), extent, d, array_node(n));
      base = add(base, mul(at, stride));
      if (!fresh) dense = false;
    }
    ++d;
  }
  r.type.ndim = static_cast<uint8_t>(shape.size());
  r.type.order = dense ? Order::C : Order::Any;
  r.v = {base, a.v[1]};
  r.v.insert(r.v.end(), shape.begin(), shape.end());
  r.v.insert(r.v.end(), strides.begin(), strides.end());
  return r;
}

void Lower::store(const Node& n, const Value& a, const Value& by, const Value& v) {
  here_ = &n;
  if (a.unknown() || by.unknown()) return;
  if (is_records(a)) return store_records(n, a, by, v);
  if (a.type.is(Type::Tag::Dict)) return store_dict(n, *n.one(Field::value), a, by, v);
  if (a.type.is(Type::Tag::Iterator) && a.type.text == "flat" && by.type.is_integer()) {
    const Value& all = a.items[0];
    Val i = wrapped(n, index_value(n, by), size_of(all), 0, array_node(n));
    return set_element(n, all, unravelled(i, all.shape()), v);
  }
  if (a.type.is(Type::Tag::List)) {
    note_lists(lists_change_);
    if (by.type.is(Type::Tag::Slice) && n.kind == NodeKind::Subscript)
      return store_slice(n, *n.one(Field::value), a, by, v);
    Val at = wrapped(n, index_value(n, by), list_length(a), 0, array_node(n));
    const Type own = boxed_type(v), &item = a.type.items[0];
    bool before = std::exchange(changed_, false);
    if (!fits_item(own, item) && n.kind == NodeKind::Subscript)
      widen_list(n, *n.one(Field::value), a, own);
    bool widened = changed_;
    changed_ = changed_ || before;
    return widened ? void() : write_item(n, a, at, v);
  }
  if (a.type.listed && becomes_list(n)) return;
  // Where NumPy gives an array without axes, ours may be a number.
  if (a.type.is_number() && !a.type.weak)
    not_yet(n, "assigning to an element of a number", "the number itself");
  if (!a.type.is_array() || a.lazy) fail(n, "elements of " + name(a.type) + " cannot be assigned");
  if (!writable(n, a)) return;
  std::vector<Value> list = by.type.is(Type::Tag::Tuple) ? by.items : std::vector<Value>{by};
  for (Value& i : list) {
    expect_no_bool(n, i);
    i = plain(i);
    if (i.type.is(Type::Tag::None)) i.type = Type::of(Type::Tag::NewAxis);
  }
  bool whole = true;
  for (const Value& i : list) whole = whole && i.type.is_number();
  expect_axes(n, a, list);
  if (whole && list.size() == a.type.ndim) {
    std::vector<Val> at;
    for (size_t d = 0; d < list.size(); ++d)
      at.push_back(wrapped(n, index_value(n, list[d]), a.shape()[d], d, array_node(n)));
    if (v.type.is_array() && v.type.ndim == 0)
      set_element(n, a, at, element(v, {}));
    else if (v.type.is_array())
      not_yet(n, "storing " + name(v.type) + " in an element of " + name(a.type),
              "the element of it that is meant");
    else if (!v.type.is_number() && !v.unknown())
      fail(n, "cannot store " + name(v.type) + " in an element of " + name(a.type));
    else
      set_element(n, a, at, v);
    return;
  }
  bool fancy = false;
  for (const Value& i : list) fancy = fancy || i.type.is_array();
  if (fancy) return scatter(n, a, list, plain(v));
  fill(n, view(n, a, list), plain(v));
}

}  // namespace numbus::frontend
