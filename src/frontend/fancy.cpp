// Integer arrays and masks as indices, and other shapes of the same elements.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

// A mask has the extents of what it picks from. NumPy lets one of 0 pass for any, which picks
// nothing: whoever goes over the elements goes over the mask's.
void Lower::expect_mask(const Node& n, const Value& mask, std::span<const Val> shape,
                        size_t first) {
  for (size_t d = 0; d < mask.type.ndim; ++d) {
    Val wanted = shape[first + d], got = mask.shape()[d];
    if (wanted == got) continue;
    Val differs = b_->emit(Op::not_equal, DType::Bool, wanted, got);
    when(both(differs, b_->emit(Op::not_equal, DType::Bool, got, ci(0))), [&] {
      raise_at(
          site(n, "IndexError",
               "boolean index did not match indexed array along axis " + std::to_string(first + d) +
                   "; size of axis is {0} but size of " + "corresponding boolean axis is {1}"),
          wanted, got);
    });
  }
}

// Slices make a view; then integers and arrays, broadcast together, pick indices along its axes.
Lower::Offsets Lower::offsets_of(const Node& n, const Value& a, const std::vector<Value>& given) {
  Offsets p;
  Value none, all;
  none.type = Type::of(Type::Tag::None);
  all.type = Type::of(Type::Tag::Slice);
  all.items = {none, none, none};
  all.type.items = {none.type, none.type, none.type};
  size_t used = 0;
  for (const Value& i : given)
    if (!i.type.is(Type::Tag::NewAxis) && !i.type.is(Type::Tag::Ellipsis)) ++used;
  std::vector<Value> basic;
  std::vector<std::pair<size_t, Value>> masks;
  size_t axis = 0;
  bool apart = false;
  for (const Value& one : given) {
    Value i = one;
    if (i.type.is(Type::Tag::Ellipsis)) {
      for (size_t k = used; k < a.type.ndim; ++k, ++axis) basic.push_back(all);
      continue;
    }
    if (i.type.is_array() && i.type.dtype == DType::Bool) {
      if (i.type.ndim != 1)
        not_yet(n,
                "a mask of " + std::to_string(i.type.ndim) + " dimensions for an array of " +
                    std::to_string(a.type.ndim),
                "np.argwhere(mask), and a loop");
      if (i.lazy) i = materialise(n, i);
      masks.push_back({axis, i});
      i = call_function({n, {i}, {}}, u_.program.library("np.flatnonzero"));
      if (i.unknown()) return p;
    }
    if (i.type.is_array() || i.type.is_number()) {
      if (!numbus::is_integer(i.type.dtype))
        fail(n, "an index has to hold integers; got " + name(i.type), "convert it: x.astype(int)");
      apart = apart || (!p.axes.empty() && p.axes.back() + 1 != axis);
      p.axes.push_back(axis);
      p.at.push_back(i);
      basic.push_back(all);
    } else {
      basic.push_back(i);
    }
    ++axis;
  }
  p.known = true;
  p.base = view(n, a.lazy ? materialise(n, a) : a, basic);
  for (const auto& [at, mask] : masks) expect_mask(n, mask, p.base.shape(), at);
  p.shape = broadcast(n, p.at);
  p.ndim = p.shape.size();
  for (const Value& i : p.at) p.repeated.push_back(repeats(i, p.shape));
  p.first = apart ? 0 : p.axes[0];
  std::vector<Val> shape;
  for (size_t d = 0; d < p.base.type.ndim; ++d)
    if (std::find(p.axes.begin(), p.axes.end(), d) == p.axes.end())
      shape.push_back(p.base.shape()[d]);
  shape.insert(shape.begin() + static_cast<int64_t>(p.first), p.shape.begin(), p.shape.end());
  p.shape = shape;
  return p;
}

// NumPy looks at all indices before it reads or writes an element: whoever asks for a part of the
// result only, or for its shape, hears of every index that lies outside. Kernels have no memory for
// indices that are computed: there each index is looked at where it is used.
void Lower::expect_indices(const Node& n, Offsets& p) {
  for (size_t k = 0; k < p.at.size(); ++k)
    if (p.at[k].type.is_number())
      wrapped(n, as(p.at[k], DType::I64), p.base.shape()[p.axes[k]], p.axes[k], array_node(n));
  if (!checks_bounds()) return;
  auto count = [&](std::span<const Val> extents) {
    Val all = ci(1);
    for (Val extent : extents) all = mul(all, extent);
    return all;
  };
  auto picked = std::span(p.shape).subspan(p.first, p.ndim);
  if (u_.options.kernel) {
    if (p.shape.size() == p.ndim) return;
    when(b_->emit(Op::equal, DType::Bool, count(p.shape), ci(0)), [&] {
      each(picked, [&](std::span<const Val> at) {
        std::vector<Val> whole(p.shape.size(), ci(0));
        std::copy(at.begin(), at.end(), whole.begin() + static_cast<int64_t>(p.first));
        offset_at(n, p, whole);
      });
    });
    return;
  }
  size_t arrays = 0;
  for (Value& i : p.at) {
    if (i.lazy) i = materialise(n, i);
    arrays += i.type.is_array();
  }
  auto look = [&] {
    for (size_t k = 0; k < p.at.size(); ++k)
      if (p.at[k].type.is_array()) expect_inside(n, p.at[k], p.base.shape()[p.axes[k]], p.axes[k]);
  };
  // Indices that are repeated no times count for nothing.
  if (arrays == 1) return look();
  when(b_->emit(Op::not_equal, DType::Bool, count(picked), ci(0)), look);
}

// Raises for the first index that lies outside; the first loop has one way through, for vectors.
void Lower::expect_inside(const Node& n, const Value& indices, Val extent, size_t axis) {
  Val outside = new_variable(DType::Bool, b_->constant(DType::Bool, Scalar::from_bool(false)));
  Val least = u_.options.wraparound ? sub(ci(0), extent) : ci(0);
  each(indices.shape(), [&](std::span<const Val> at) {
    Val i = as(element(indices, at), DType::I64);
    Val bad = b_->emit(Op::logical_or, DType::Bool, less(i, least), negate(less(i, extent)));
    set(outside, b_->emit(Op::logical_or, DType::Bool, get(outside), bad));
  });
  when(get(outside), [&] {
    each(indices.shape(), [&](std::span<const Val> at) {
      wrapped(n, as(element(indices, at), DType::I64), extent, axis, array_node(n));
    });
  });
}

// The indices into the view for a point of the result.
std::vector<Val> Lower::offset_at(const Node& n, const Offsets& p, std::span<const Val> at) {
  std::vector<Val> mine;
  std::span<const Val> picked = at.subspan(p.first, p.ndim);
  size_t next = 0;
  for (size_t d = 0; d < p.base.type.ndim; ++d) {
    auto found = std::find(p.axes.begin(), p.axes.end(), d);
    if (found != p.axes.end()) {
      const Value& i = p.at[found - p.axes.begin()];
      Val k =
          as(broadcast_element(i, picked, p.ndim, p.repeated[found - p.axes.begin()]), DType::I64);
      mine.push_back(wrapped(n, k, p.base.shape()[d], d, array_node(n)));
    } else {
      if (next == p.first) next += p.ndim;
      mine.push_back(at[next++]);
    }
  }
  return mine;
}

Value Lower::gather(const Node& n, const Value& a, const std::vector<Value>& list) {
  Offsets p = offsets_of(n, a, list);
  if (!p.known) return {};
  expect_indices(n, p);
  Value r = lazy(a.type.dtype, p.shape, [this, p, &n](std::span<const Val> at) {
    return element(p.base, offset_at(n, p, at));
  });
  r.origin = a.origin;
  for (const Value& i : p.at) r.origin |= i.origin;
  auto raising = std::make_shared<Lazy>(*r.lazy);
  raising->gathers = true;
  r.lazy = std::move(raising);
  return r;
}

void Lower::scatter(const Node& n, const Value& a, const std::vector<Value>& given,
                    const Value& from) {
  if (from.unknown()) return;
  std::vector<Value> list = given;
  Value v = from.type.is(Type::Tag::Tuple) ? as_array(n, from) : from;
  // All that is read is read before anything is written.
  bool mask =
      list.size() == 1 && list[0].type.dtype == DType::Bool && list[0].type.ndim == a.type.ndim;
  for (Value& i : list)
    if (!mask || !reads_own_indices(i, a)) i = apart(n, i, a);
  v = apart(n, v, a);
  if (!v.type.is_number() && !v.type.is_array())
    fail(n, "cannot assign " + name(v.type) + " to elements of " + name(a.type));
  if (mask) expect_mask(n, list[0], a.shape(), 0);
  if (!mask) {
    Offsets p = offsets_of(n, a, list);
    if (!p.known) return;
    v = fitted(n, v, p.shape.size(), true);
    std::vector<Val> repeated = repeats(v, p.shape);
    for (size_t d = 0; d < repeated.size(); ++d) {
      Val extent = v.shape()[d], wanted = p.shape[p.shape.size() - repeated.size() + d];
      if (repeated[d] == ir::kNone && constant_of(extent) == 1) continue;
      if (extent == wanted) continue;
      Val misfit = b_->emit(Op::not_equal, DType::Bool, extent, wanted);
      if (repeated[d] != ir::kNone) misfit = both(misfit, negate(repeated[d]));
      when(misfit, [&] {
        raise_at(site(n, "ValueError", "could not broadcast an extent of {0} into one of {1}"),
                 extent, wanted);
      });
    }
    expect_indices(n, p);
    each(p.shape, [&](std::span<const Val> at) {
      set_element(n, p.base, offset_at(n, p, at),
                  broadcast_element(v, at, p.shape.size(), repeated));
    });
    return;
  }
  if (!v.type.is_array() || v.type.ndim == 0) {
    Value e = v.type.is_array() ? element(v, {}) : v;
    each(list[0].shape(), [&](std::span<const Val> at) {
      when(element(list[0], at).v[0], [&] { set_element(n, a, at, e); });
    });
    return;
  }
  if (v.type.ndim != 1) fail(n, "cannot assign " + name(v.type) + " through a mask", "x[m] = v[m]");
  if (v.lazy) v = materialise(n, v);
  Value picks = list[0].lazy ? materialise(n, list[0]) : list[0];
  Val used = new_variable(DType::I64), length = v.shape()[0];
  auto each_picked = [&](const std::function<void(std::span<const Val>)>& body) {
    set(used, ci(0));
    each(picks.shape(), [&](std::span<const Val> at) {
      when(element(picks, at).v[0], [&] {
        body(at);
        set(used, add(get(used), ci(1)));
      });
    });
  };
  // Nothing is written where the number of values does not fit.
  each_picked([](std::span<const Val>) {});
  Val single = b_->emit(Op::equal, DType::Bool, length, ci(1)), taken = get(used);
  Val misfit = b_->emit(Op::not_equal, DType::Bool, taken, length);
  when(both(negate(single), misfit), [&] {
    raise_at(site(n, "ValueError", "cannot assign {0} values to the {1} that the mask selects"),
             length, taken);
  });
  each_picked([&](std::span<const Val> at) {
    Val source = b_->emit(Op::select, DType::I64, single, ci(0), get(used));
    set_element(n, a, at, element(v, {&source, 1}));
  });
}

Value Lower::transpose(const Value& a) {
  Value r = a;
  size_t n = a.type.ndim;
  if (a.lazy) {
    std::vector<Val> shape(a.shape().rbegin(), a.shape().rend());
    Value t = lazy(a.type.dtype, shape, [this, source = a](std::span<const Val> at) {
      std::vector<Val> back(at.rbegin(), at.rend());
      return element(source, back);
    });
    t.origin = a.origin;
    return t;
  }
  for (size_t d = 0; d < n; ++d) {
    r.v[2 + d] = a.v[2 + n - 1 - d];
    r.v[2 + n + d] = a.v[2 + n + n - 1 - d];
  }
  r.type.order = a.type.ndim < 2            ? a.type.order
                 : a.type.order == Order::C ? Order::F
                 : a.type.order == Order::F ? Order::C
                                            : Order::Any;
  return r;
}

// Says whether the elements of an array in memory follow each other in C order.
Val Lower::lies_dense(const Value& a) {
  auto is = [&](Val x, Val y) { return b_->emit(Op::equal, DType::Bool, x, y); };
  auto either = [&](Val x, Val y) { return b_->emit(Op::logical_or, DType::Bool, x, y); };
  Val in_order = b_->constant(DType::Bool, Scalar::from_bool(true));
  Val step = ci(itemsize(a.type.dtype));
  for (size_t d = a.type.ndim; d-- > 0;) {
    in_order = both(in_order, either(is(a.shape()[d], ci(1)), is(a.strides()[d], step)));
    step = mul(step, a.shape()[d]);
  }
  return either(in_order, is(step, ci(0)));
}

// Their steps in C order.
std::vector<Val> Lower::dense_strides(DType t, std::span<const Val> shape, Val step) {
  std::vector<Val> strides(shape.size());
  if (step == ir::kNone) step = ci(itemsize(t));
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step = mul(step, shape[d]);
  }
  return strides;
}

// The array itself where its elements lie in C order, else a copy in which they do. `instead` may
// find other strides for `r` first; it calls what makes the copy.
Value Lower::dense(const Node& n, const Value& a,
                   const std::function<void(const std::function<void()>&)>& instead) {
  if (a.lazy) {
    Value rows = a;
    rows.type.order = Order::C;
    return materialise(n, rows);
  }
  if (a.type.order == Order::C) return a;
  // Where it lies, and what is counted for it, in variables.
  Value r = a;
  Val address = new_variable(DType::I64, a.v[0]), owner = new_variable(DType::I64, a.v[1]);
  auto copies = [&] {
    Value copy = materialise(
        n, lazy(a.type.dtype, a.shape(), [&](std::span<const Val> at) { return element(a, at); }));
    set(address, copy.v[0]);
    set(owner, copy.v[1]);
  };
  when(negate(lies_dense(a)), [&] { instead ? instead(copies) : copies(); });
  r.v[0] = get(address);
  r.v[1] = get(owner);
  std::vector<Val> strides = dense_strides(a.type.dtype, a.shape());
  std::ranges::copy(strides, r.v.begin() + 2 + a.type.ndim);
  r.type.order = Order::C;
  r.type.owned = true;
  r.type.aligned = false;
  r.type.frozen = r.type.readonly;  // a copy could be written to
  return r;
}

// What a function of NumPy's takes as an array.
Value Lower::as_array(const Node& n, const Value& a) {
  if (a.type.is(Type::Tag::Tuple)) {
    Value rows = without_lists(n, a);
    bool arrays = !rows.items.empty();
    for (const Value& i : rows.items) arrays = arrays && i.type.is_array() && i.type.ndim > 0;
    if (arrays) return call_function({n, {rows}, {}}, u_.program.library("np.stack"));
    return from_items(n, a.items, {}, true);
  }
  if (a.type.is_number())
    return materialise(
        n, lazy(a.type.dtype, std::vector<Val>{},
                [this, a, &n](std::span<const Val>) { return cast(n, a, a.type.dtype); }));
  if (!a.unknown() && !a.type.is_array()) fail(n, "an array is needed here; got " + name(a.type));
  return a;
}

Value Lower::ravel(const Node& n, const Value& given) {
  Value a = as_array(n, given);
  return a.unknown() ? a : reshape(n, dense(n, a), {known_integer(-1)});
}

// Other extents of as many elements: a view where some strides lead to them in C order, else a
// copy.
Value Lower::reshape(const Node& n, const Value& given, const std::vector<Value>& shape) {
  Value a = as_array(n, given);
  if (a.unknown()) return {};
  if (a.lazy) a = dense(n, a);
  Val total = size_of(a), known = ci(1);
  auto misfits = [&] {
    raise_at(site(n, "ValueError", "cannot reshape an array of {0} elements into {1}"), total,
             known);
  };
  std::vector<Val> extents;
  std::optional<size_t> open;
  std::vector<Val> unknown(shape.size(), ir::kNone);  // of extents of run time: whether it is -1
  Val unknowns = ci(0);
  for (const Value& one : shape) {
    Val e = index_value(n, one);
    if (constant_of(e) == -1) {
      if (open)
        when(b_->constant(DType::Bool, Scalar::from_bool(true)),
             [&] { raise_at(site(n, "ValueError", "can only specify one unknown dimension")); });
      open = extents.size();
      unknowns = add(unknowns, ci(1));
      e = ci(1);
    } else if (auto fixed = constant_of(e); !fixed || *fixed < 0) {
      when(less(e, ci(-1)),
           [&] { raise_at(site(n, "ValueError", "negative dimensions not allowed")); });
      Val& here = unknown[extents.size()];
      here = b_->emit(Op::equal, DType::Bool, e, ci(-1));
      unknowns = add(unknowns, b_->cast(here, DType::I64));
      e = b_->emit(Op::select, DType::I64, here, ci(1), e);
    }
    extents.push_back(e);
    known = mul(known, e);
  }
  if (!constant_of(unknowns)) {
    when(less(ci(1), unknowns),
         [&] { raise_at(site(n, "ValueError", "can only specify one unknown dimension")); });
    // Where one is unknown, it is what the others leave; of none, as many as there are.
    Val any = less(ci(0), unknowns), none = b_->emit(Op::equal, DType::Bool, known, ci(0));
    when(both(any, none), misfits);
    Val rest = b_->emit(Op::floor_divide, DType::I64, total,
                        b_->emit(Op::maximum, DType::I64, known, ci(1)));
    if (open) unknown[*open] = b_->constant(DType::Bool, Scalar::from_bool(true));
    known = ci(1);
    for (size_t k = 0; k < extents.size(); ++k) {
      if (unknown[k] != ir::kNone)
        extents[k] = b_->emit(Op::select, DType::I64, unknown[k], rest, extents[k]);
      known = mul(known, extents[k]);
    }
  } else if (open) {
    // Any extent would do beside one of zero.
    if (auto fixed = constant_of(known); !fixed || *fixed == 0)
      when(b_->emit(Op::equal, DType::Bool, known, ci(0)), misfits);
    extents[*open] = b_->emit(Op::floor_divide, DType::I64, total, known);
    known = mul(known, extents[*open]);
  }
  when(b_->emit(Op::not_equal, DType::Bool, known, total), misfits);

  bool line = a.type.ndim == 1 && a.type.order != Order::C;
  std::vector<Val> strides =
      dense_strides(a.type.dtype, extents, line ? a.strides()[0] : ir::kNone);
  bool found = !line && a.type.order != Order::C && a.type.ndim > 1 && !u_.options.kernel;
  Value r = a;
  if (found) {
    for (Val& step : strides) step = new_variable(DType::I64, step);
    r = dense(n, a, [&](const std::function<void()>& copies) {
      view_or(n, a, extents, strides, copies);
    });
    for (Val& step : strides) step = get(step);
  } else if (!line) {
    r = dense(n, a);
  }
  r.type.ndim = static_cast<uint8_t>(extents.size());
  r.type.order = line || found ? Order::Any : Order::C;
  r.v.resize(2);
  r.v.insert(r.v.end(), extents.begin(), extents.end());
  r.v.insert(r.v.end(), strides.begin(), strides.end());
  return r;
}

// Sets the variables to the strides with which the same memory has these extents, or makes a copy.
void Lower::view_or(const Node& n, const Value& a, std::span<const Val> extents,
                    std::span<const Val> variables, const std::function<void()>& copies) {
  auto line_of = [&](std::span<const Val> items) {
    Value line = allocate(DType::I64, std::vector<Val>{ci(static_cast<int64_t>(items.size()))});
    for (size_t k = 0; k < items.size(); ++k)
      set_element(n, line, std::vector<Val>{ci(static_cast<int64_t>(k))}, integer(items[k]));
    return line;
  };
  std::vector<Val> old;
  for (Val v : variables) old.push_back(get(v));
  Value to = line_of(old);
  Value as_view =
      call_function({n, {line_of(a.shape()), line_of(a.strides()), line_of(extents), to}, {}},
                    u_.program.library("strides of reshaped"));
  if (as_view.unknown()) return;
  when(
      as_view.v[0],
      [&] {
        for (size_t k = 0; k < variables.size(); ++k)
          set(variables[k], element(to, std::vector<Val>{ci(static_cast<int64_t>(k))}).v[0]);
      },
      copies);
}

}  // namespace numbus::frontend
