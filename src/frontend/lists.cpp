// Lists: comprehensions, and the little that lists do besides being arrays of Python's numbers.
#include "frontend/lower.h"

namespace numbus::frontend {

// Numbers in memory that act as a list: they come back as one, and are Python's own numbers.
Value Lower::list_of(const Node& n, const std::vector<Value>& items) {
  Value a = from_items(n, items, {});
  a.type.text = "list";
  a.type.weak = true;
  for (const Value& i : items) a.type.weak = a.type.weak && i.type.weak;
  return a;
}

// A list of numbers is memory; anything else acts as a tuple.
Value Lower::list_or_tuple(const Node& n, std::vector<Value> items) {
  bool numbers = !items.empty() && !u_.options.kernel;
  for (const Value& i : items) numbers = numbers && i.type.is_number();
  if (numbers) return list_of(n, items);
  Value r;
  r.type = Type::of(Type::Tag::Tuple);
  for (const Value& i : items) r.type.items.push_back(i.type);
  r.items = std::move(items);
  return r;
}

Value Lower::repeat_list(const Node& n, const Value& list, const Value& times) {
  Val length = list.shape()[0];
  Val count = b_->emit(Op::maximum, DType::I64, mul(length, index_value(n, times)), ci(0));
  Value from = list;
  Value r = materialise(n, lazy(list.type.dtype, std::vector<Val>{count},
                                [this, from, length](std::span<const Val> at) {
                                  Val i = constant_of(length) == 1
                                              ? ci(0)
                                              : b_->emit(Op::remainder, DType::I64, at[0], length);
                                  return element(from, std::vector<Val>{i});
                                }));
  r.type.text = "list";
  r.type.weak = list.type.weak;
  return r;
}

Value Lower::join_lists(const Node& n, const Value& a, const Value& b) {
  Type t;
  join(Type::number_of(a.type.dtype, a.type.weak), Type::number_of(b.type.dtype, b.type.weak), t);
  Val first = a.shape()[0], second = b.shape()[0];
  Value r = allocate(t.dtype, std::vector<Val>{add(first, second)});
  counted(first, [&](Val i) { set_element(n, r, std::vector<Val>{i}, element(a, {&i, 1})); });
  counted(second,
          [&](Val i) { set_element(n, r, std::vector<Val>{add(first, i)}, element(b, {&i, 1})); });
  r.type.text = "list";
  r.type.weak = t.weak;
  return r;
}

// Over a tuple, whose items may be of several types.
Value Lower::tuple_comprehension(const Node& n, const Value& over) {
  const Node& g = n.all(Field::generators)[0];
  std::vector<Value> items;
  Scope* outer = scope_;
  std::string prefix =
      outer->prefix + "c" + std::to_string(n.line) + ":" + std::to_string(n.col) + ".";
  for (const Value& i : over.items) {
    prefix += "'";
    scope_ = &new_scope(outer, outer->source, prefix);
    scope_->depth = 1;
    assign(*g.one(Field::target), i);
    Value e = expression(*n.one(Field::elt));
    if (e.lazy) e = materialise(n, e);
    scope_ = outer;
    if (e.unknown()) return {};
    items.push_back(e);
  }
  return list_or_tuple(n, std::move(items));
}

// [f(x) for x in … for y in … if …]: memory that grows, or is made at once where the count is
// known.
Value Lower::comprehension(const Node& n) {
  const auto& generators = n.all(Field::generators);
  const Node& first = generators[0];
  Value over = expression(*first.one(Field::iter));
  if (over.unknown()) return {};
  bool simple = generators.size() == 1 && first.all(Field::ifs).empty();
  if (simple && over.type.is(Type::Tag::Tuple) && over.type.text.empty())
    return tuple_comprehension(n, over);
  if (u_.options.kernel) not_yet(n, "lists in a kernel", "use cuda.local.array(shape, dtype)");
  Scope* outer = scope_;
  Scope& scope =
      new_scope(outer, outer->source,
                outer->prefix + "c" + std::to_string(n.line) + ":" + std::to_string(n.col) + ".");
  scope.depth = 1;
  std::string k = scope.prefix + "element";
  Type t = types_[k];
  DType held = t.is_number() ? t.dtype : DType::F64;
  int64_t bytes = itemsize(held);
  Sequence all = sequence(first, over);
  Val used = new_variable(DType::I64), room = new_variable(DType::I64),
      owner = new_variable(DType::I64);
  intrinsic(ir::Intrinsic::release, DType::I64, get(owner));
  owning_.push_back(owner);
  temporaries_.push_back({owner, ir::kNone});
  set(used, ci(0));
  set(room, simple ? all.count : ci(8));
  set(owner, intrinsic(ir::Intrinsic::allocate, DType::I64, mul(get(room), ci(bytes))));
  auto data = [&] { return intrinsic(ir::Intrinsic::data_of, DType::I64, get(owner)); };

  auto put = [&] {
    size_t keep = temporaries_.size();
    Value e = expression(*n.one(Field::elt));
    if (e.unknown()) return;
    if (e.type.is_array() && e.type.ndim == 0) e = element(e, {});
    if (!e.type.is_number())
      not_yet(n, "a list of " + name(e.type), "make an array, and assign to its rows");
    Type wider;
    join(t, e.type, wider);
    if (wider != t) {
      types_[k] = wider;
      changed_ = true;
    } else {
      Val place = get(used);
      if (!simple)
        when(negate(less(place, get(room))), [&] {
          Val more = mul(get(room), ci(2));
          Val fresh = intrinsic(ir::Intrinsic::allocate, DType::I64, mul(more, ci(bytes)));
          Val to = intrinsic(ir::Intrinsic::data_of, DType::I64, fresh), from = data();
          counted(place, [&](Val i) {
            Val at = mul(i, ci(bytes));
            write_at(held, read_at(held, from, at, ir::Space::Global).v[0], to, at,
                     ir::Space::Global);
          });
          intrinsic(ir::Intrinsic::release, DType::I64, get(owner));
          set(owner, fresh);
          set(room, more);
        });
      write_at(held, cast(n, e, held).v[0], data(), mul(place, ci(bytes)), ir::Space::Global);
      set(used, add(place, ci(1)));
    }
    forget_temporaries(keep);
  };
  std::function<void(size_t, const Sequence&)> nest = [&](size_t g, const Sequence& s) {
    counted(s.count, [&](Val i) {
      size_t keep = temporaries_.size();
      assign(*generators[g].one(Field::target), s.item(i));
      std::function<void()> inner = [&] {
        if (g + 1 == generators.size()) return put();
        Value next = expression(*generators[g + 1].one(Field::iter));
        if (!next.unknown()) nest(g + 1, sequence(generators[g + 1], next));
      };
      // Conditions one in the other: the later ones may rely on the earlier.
      const auto& ifs = generators[g].all(Field::ifs);
      std::function<void(size_t)> test = [&](size_t c) {
        if (c == ifs.size()) return inner();
        Value v = expression(ifs[c]);
        if (!v.unknown()) when(truth(ifs[c], v), [&] { test(c + 1); });
      };
      test(0);
      forget_temporaries(keep);
    });
  };
  scope_ = &scope;
  nest(0, all);
  scope_ = outer;
  if (!t.is_number()) {
    // Nothing is ever put in: an empty list.
    if (!changed_) types_[k] = Type::number_of(DType::F64, true), changed_ = true;
    return {};
  }
  Value out;
  out.type = Type::array_of(t.dtype, 1);
  out.type.owned = true;
  out.type.text = "list";
  out.type.weak = t.weak;
  out.v = {data(), get(owner), simple ? all.count : get(used), ci(bytes)};
  out.origin = uint64_t{1} << (32 + temporaries_.size() % 32);
  return out;
}

}  // namespace numbus::frontend
