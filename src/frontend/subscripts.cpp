// Subscripts: items and elements that are read and assigned to, slices, views.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

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

namespace {

bool is_name(const Node& n, const Node& other) {
  return n.kind == NodeKind::Name && other.kind == NodeKind::Name && n.text == other.text;
}

// d.get(k), d.get(k, other) of the item d[k].
bool gets(const Node& call, const Node& item) {
  const Node& f = *call.one(Field::func);
  const auto& args = call.all(Field::args);
  return f.kind == NodeKind::Attribute && f.text == "get" && !args.empty() &&
         call.all(Field::keywords).empty() &&
         is_name(*f.one(Field::value), *item.one(Field::value)) &&
         is_name(args[0], *item.one(Field::slice));
}

}  // namespace

bool releases_nothing(const Node& n, const Node* updated) {
  auto all = [&](std::initializer_list<Field> fields) {
    return std::ranges::all_of(fields,
                               [&](Field f) { return releases_nothing(*n.one(f), updated); });
  };
  switch (n.kind) {
    case NodeKind::Constant:
    case NodeKind::Name:
    case NodeKind::Global: return true;
    case NodeKind::Attribute: return all({Field::value});
    case NodeKind::Subscript: return all({Field::value, Field::slice});
    case NodeKind::UnaryOp: return all({Field::operand});
    case NodeKind::BinOp: return all({Field::left, Field::right});
    case NodeKind::Call:
      return updated && gets(n, *updated) &&
             std::ranges::all_of(n.all(Field::args),
                                 [](const Node& a) { return releases_nothing(a); });
    default: return false;
  }
}

// The entry of dict[key], which has been searched for: an assignment that follows need not search.
void Lower::note_entry(const Node& dict, const Node& key, Val entry) {
  if (updated_ && is_name(dict, *updated_->one(Field::value)) &&
      is_name(key, *updated_->one(Field::slice)))
    updated_entry_ = entry;
}

// What is indexed, and by what. loose: it is an item of a list, which nobody holds for this
// statement.
std::pair<Value, Value> Lower::parts_of_subscript(const Node& n, bool& loose) {
  const Node& slice = *n.one(Field::slice);
  Value a = receiver(*n.one(Field::value), releases_nothing(slice), loose);
  if (a.unknown()) return {};
  Value by = maybe_none(slice);
  a = some(n, a, "'NoneType' object is not subscriptable");
  if (a.unknown()) return {};
  // To arrays None is a new axis, and to dicts a key.
  if (a.type.is(Type::Tag::List) || is_plain_list(a) || a.type.is(Type::Tag::Tuple) ||
      a.type.is_text())
    by = some(n, by, "indices must be integers or slices, not NoneType");
  refuse_none(n, by, "as an index");
  return {a, by};
}

Value Lower::subscript(const Node& n) {
  if (const auto item = item_of_error(n)) return *item;
  bool loose = false;
  auto [a, by] = parts_of_subscript(n, loose);
  Value r = index(n, a, by);
  if (loose && !r.type.is_number()) hold(a);
  return r;
}

// What an item is read of, or its length. passing: nothing is let go of before that, so that an
// item of a list (m[i] of m[i][j]) need not be held; it is then `loose`.
Value Lower::receiver(const Node& n, bool passing, bool& loose) {
  if (!passing || n.kind != NodeKind::Subscript) return maybe_none(n);
  refuse_empty_lists(n);
  bool of_loose = false;
  auto [a, by] = parts_of_subscript(n, of_loose);
  if (a.type.is(Type::Tag::List) && by.type.is_integer() && !a.type.items[0].is_number()) {
    loose = true;
    return item_of_list(n, a, by, false);
  }
  Value r = index(n, a, by);
  if (of_loose && !r.type.is_number()) hold(a);
  return r;
}

Value Lower::item_of_list(const Node& n, const Value& list, const Value& by, bool holds) {
  here_ = &n;
  Val at = wrapped(n, index_value(n, by), list_length(list), 0, array_node(n));
  return read_item(list, at, holds);
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
  const bool others = t.type.listed && std::ranges::any_of(t.items, [](const Value& i) {
                        return !i.type.is_number();
                      });
  if (others && becomes_list(n)) return {};
  Val i = wrapped(n, index_value(n, by), ci(size), 0, array_node(n));
  if (t.items.empty()) return known_integer(0);  // never read: no index is inside
  if (std::ranges::all_of(t.items, [](const Value& v) { return v.type.is_array(); })) {
    // A name of its own, to which one of them is assigned.
    const std::string key = "item " + std::to_string(n.line) + ":" + std::to_string(n.col);
    ++scope_->depth;
    for (int64_t k = 0; k < size; ++k)
      when(b_->emit(Op::equal, DType::Bool, i, ci(k)),
           [&] { assign_name(n, key, t.items[static_cast<size_t>(k)]); });
    --scope_->depth;
    return read_variable(n, key);
  }
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
  if (auto item = call_special(n, "__getitem__", {a, by})) return *item;
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
    return item_of_list(n, a, by);
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
  if (call_special(n, "__setitem__", {a, by, v})) return;
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
