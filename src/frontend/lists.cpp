// Lists: literals and comprehensions, and the lists that variables hold, which grow and which
// several names may share.
//
// A list as a value is the owner of a header in counted memory (compile/runtime.h): its length and
// where its items are. Numbers lie there as in an array, other items as their words, eight bytes
// each. What literals, slices and sums of lists make is an array of the text "list" until a
// variable, a tuple or a call takes it: most lists never need more.
#include <algorithm>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

// What a list with such an item holds: of None alone it is not known what else.
Type item_or_none(Type t) { return t.is(Type::Tag::None) ? Type::maybe({}) : std::move(t); }

Type item_type(const Type& t) {
  return t.is(Type::Tag::List) ? t.items[0] : Type::number_of(t.dtype, t.weak);
}

}  // namespace

bool Lower::is_plain_list(const Value& v) { return v.type.is_array() && v.type.text == "list"; }

Type Lower::list_type(Type item) {
  Type t = Type::of(Type::Tag::List);
  if (item.is_number()) item.text.clear();
  t.owned = true;
  t.items = {of_any_value(std::move(item))};
  return t;
}

// --- lists as values
// ------------------------------------------------------------------------------

Val Lower::list_length(const Value& list) {
  if (list.v.empty()) return ci(0);
  Val header = intrinsic(ir::Intrinsic::data_of, DType::I64, list.v[0]);
  return b_->emit(Op::read, DType::I64, header, ci(0), ir::kNone,
                  static_cast<int64_t>(ir::Space::Global));
}

Val Lower::list_data(const Value& list) {
  Val header = intrinsic(ir::Intrinsic::data_of, DType::I64, list.v[0]);
  return b_->emit(Op::read, DType::I64, header, ci(8), ir::kNone,
                  static_cast<int64_t>(ir::Space::Global));
}

// A list of its own of so many items, in the memory of that owner if there is one.
Value Lower::new_list(const Type& item, Val count, Val memory) {
  Value r;
  r.type = list_type(item);
  r.fresh = true;
  r.v = {intrinsic(ir::Intrinsic::list, DType::I64, memory, count, ir::kNone, ir::Space::Global,
                   stored_item(item))};
  expect_memory(r.v[0]);
  own(r.v[0]);
  return r;
}

void Lower::resize_list(const Value& list, Val count) {
  if (!list.v.empty())
    expect_memory(intrinsic(ir::Intrinsic::resize, DType::I64, list.v[0], count));
}

// Where there is not enough memory, `got` is zero.
void Lower::expect_memory(Val got) {
  const Node& at = here_ ? *here_ : source_.definition;
  when(b_->emit(Op::equal, DType::Bool, got, ci(0)),
       [&] { raise_at(site(at, "MemoryError", "")); });
}

// Lists that iterations of a parallel loop share can be read there, not changed: whether this is
// one, or has one.
bool Lower::shares_lists(const Value& v) {
  return v.outside || std::any_of(v.items.begin(), v.items.end(), shares_lists);
}

bool Lower::holds_strings(const Type& t) {
  return t.is(Type::Tag::String) || std::any_of(t.items.begin(), t.items.end(), holds_strings);
}

bool Lower::holds_lists(const Type& t) {
  return t.is(Type::Tag::List) || t.is(Type::Tag::Dict) || t.is(Type::Tag::Object) ||
         std::any_of(t.items.begin(), t.items.end(), holds_lists);
}

void Lower::share_lists(Value& v) {
  v.outside =
      v.type.is(Type::Tag::List) || v.type.is(Type::Tag::Dict) || v.type.is(Type::Tag::Object);
  for (Value& i : v.items) share_lists(i);
}

// Its numbers, as an array over the list's memory; other values as they are.
Value Lower::plain(const Value& v) {
  if (!v.type.is(Type::Tag::List) || !v.type.items[0].is_number()) return v;
  const Type& item = v.type.items[0];
  Value r;
  r.type = Type::array_of(item.dtype, 1);
  r.type.text = "list";
  r.type.weak = item.weak;
  if (v.v.empty())
    r.v = {ci(0), ci(0), ci(0), ci(itemsize(item.dtype))};
  else
    r.v = {list_data(v), ci(0), list_length(v), ci(itemsize(item.dtype))};
  return r;
}

// The same in memory of their own: what the list does later does not touch them.
Value Lower::copied(const Node& n, const Value& v) {
  if (!v.type.is(Type::Tag::List)) return v;
  Value from = plain(v);
  if (!from.type.is_array()) return from;
  Value r = materialise(
      n, lazy(from.type.dtype, from.shape(), [this, from](auto at) { return element(from, at); }));
  r.type.text = "list";
  r.type.weak = from.type.weak;
  return r;
}

// Arrays in place of a list, and of those in a tuple: what NumPy's functions work on.
Value Lower::without_lists(const Node& n, const Value& v) {
  Value r = copied(n, v);
  if (is_plain_list(r)) {
    r.type.text.clear();
    r.type.weak = false;
  }
  if (r.type.is(Type::Tag::Tuple) && r.type.text.empty())
    for (size_t k = 0; k < r.items.size(); ++k) {
      r.items[k] = without_lists(n, r.items[k]);
      r.type.items[k] = r.items[k].type;
    }
  return r;
}

Value Lower::read_item(const Value& list, Val at, bool holds) {
  const Type& item = list.type.items[0];
  if (item.unknown() || list.v.empty()) return {};
  Val data = list_data(list), offset = mul(at, ci(bytes_of_item(item)));
  if (item.is_number()) {
    Value r = read_at(item.dtype, data, offset, ir::Space::Global);
    r.type = item;
    return r;
  }
  return read_words(item, data, offset, list, holds);
}

// What lies in memory of a list or a dict, a word in eight bytes.
Value Lower::read_words(const Type& t, Val base, Val offset, const Value& holder, bool holds) {
  std::vector<Val> held;
  for (DType w : words(t)) {
    Val where = add(offset, ci(8 * static_cast<int64_t>(held.size())));
    held.push_back(b_->cast(read_at(stored(w), base, where, ir::Space::Global).v[0], w));
  }
  size_t next = 0;
  Value r = unflatten(t, held, next);
  set_origin(r, origin_of(holder));
  // Its holder may let go of it while this statement still works with it.
  if (holds) hold(r);
  if (holder.outside) share_lists(r);
  return r;
}

// A value of that type in place of what was there, or where nothing was.
void Lower::write_words(const Type& t, const Value& v, Val base, Val offset, bool fresh) {
  std::vector<Val> all = flatten(v);
  std::vector<DType> types = words(t);
  std::vector<size_t> owned = owners(t);
  const uint32_t marked = owner_words(t);
  for (size_t o = 0; o < all.size(); ++o) {
    if (!(marked >> o & 1)) continue;
    // Nothing that the holder has to let go of.
    if (std::ranges::find(owned, o) == owned.end()) all[o] = ci(0);
    Val where = add(offset, ci(8 * static_cast<int64_t>(o)));
    intrinsic(ir::Intrinsic::retain, DType::I64, all[o]);
    if (!fresh)
      intrinsic(ir::Intrinsic::release, DType::I64,
                read_at(DType::I64, base, where, ir::Space::Global).v[0]);
  }
  for (size_t k = 0; k < all.size(); ++k)
    write_at(stored(types[k]), b_->cast(all[k], stored(types[k])), base,
             add(offset, ci(8 * static_cast<int64_t>(k))), ir::Space::Global);
}

// Whether a list of these items takes a number as it is: integers wrap, floats keep their digits.
bool Lower::fits_item(const Type& own, const Type& item) {
  if (!own.is_number() || !item.is_number() || kind(own.dtype) > kind(item.dtype)) return false;
  Type both;
  return numbus::is_integer(own.dtype) || own.dtype == DType::Bool ||
         (join(item, own, both) && both.dtype == item.dtype);
}

void Lower::write_item(const Node& n, const Value& list, Val at, const Value& given) {
  const Type& item = list.type.items[0];
  if (item.unknown() || given.unknown() || list.v.empty()) return;
  // Words of its own: what is computed where it is used has none.
  Value v = held(n, given.lazy ? materialise(n, given) : given);
  Type both, own = boxed_type(v);
  if (!fits_item(own, item) && (!join(item, own, both) || both != item))
    not_yet(n, "putting " + name(boxed_type(v)) + " into a " + name(list.type),
            item.is_number() ? "make the list of floats from the start: [0.0] * n" : "");
  put_in_lists(origin_of(v));
  Value now = convert_to(n, v, item);
  if (now.unknown()) return;
  Val data = list_data(list), offset = mul(at, ci(bytes_of_item(item)));
  if (item.is_number()) return write_at(item.dtype, now.v[0], data, offset, ir::Space::Global);
  write_words(item, now, data, offset);
}

Type Lower::boxed_type(const Value& v) {
  if (is_plain_list(v)) return list_type(item_type(v.type));
  Type t = v.type;
  if (t.is(Type::Tag::Tuple) && t.text.empty())
    for (size_t k = 0; k < v.items.size(); ++k) t.items[k] = boxed_type(v.items[k]);
  return t;
}

// What leaves the statement: lists as lists, also where a literal has acted as a tuple so far.
Value Lower::boxed(const Node& n, const Value& v) {
  if (v.type.listed && !u_.options.kernel) {
    Type common;
    bool one = true;
    for (const Value& i : v.items) {
      Type wider, item = item_or_none(held_type(of_any_value(boxed_type(i))));
      one = one && join(common, item, wider) && can_hold(item);
      if (one) common = wider;
    }
    if (one) {
      if (!v.fresh) note_lists(lists_copied_);
      return list_from(n, v);
    }
  }
  Type t = boxed_type(v);
  return t == v.type ? v : convert_to(n, v, t);
}

// A value that acts as a list as one of items of that type.
Value Lower::to_list(const Node& n, const Value& v, const Type& item) {
  if (v.type.is(Type::Tag::List)) {
    if (v.v.empty()) return new_list(item, ci(0), ci(0));
    const Type& own = v.type.items[0];
    if (own == item) return v;
    if (v.fresh && own.is_array() && item.is_array() && own.dtype == item.dtype &&
        own.ndim == item.ndim) {
      Value same = v;
      same.type = list_type(item);
      return same;
    }
    Type both;
    const bool by_item = own.is(Type::Tag::Tuple) || item.is_maybe();
    if (v.fresh && by_item && join(own, item, both) && both == item) {
      // Nobody else holds it: another one of its items, each as one of the wider type.
      const Val count = list_length(v);
      Value wider = new_list(item, ci(0), ci(0));
      resize_list(wider, count);
      counted(count, [&](Val i) { write_item(n, wider, i, read_item(v, i)); });
      return wider;
    }
    if (!v.fresh || !item.is_number())
      not_yet(n, "a " + name(list_type(item)) + " of a " + name(v.type),
              "make the list of floats from the start: [0.0] * n");
  }
  Value from = plain(v);
  if (item.is_maybe()) {
    if (from.lazy) from = materialise(n, from);
    const Val count = from.shape()[0];
    Value made = new_list(item, ci(0), ci(0));
    resize_list(made, count);
    counted(count, [&](Val i) {
      Value e = element(from, {&i, 1});
      e.type = item_type(from.type);
      write_item(n, made, i, e);
    });
    return made;
  }
  if (from.lazy || from.type.dtype != item.dtype || constant_of(from.v[1]) == 0 ||
      constant_of(from.strides()[0]) != itemsize(item.dtype))
    from = materialise(n, lazy(item.dtype, from.shape(), [this, from](std::span<const Val> at) {
                         return element(from, at);
                       }));
  return new_list(item, from.shape()[0], from.v[1]);
}

// Variables have lists of one type: that of a list that gets an item of another one becomes wider.
void Lower::widen_list(const Node& n, const Node& receiver, const Value& list, const Type& given) {
  if (given.unknown()) return;
  const Type item = item_or_none(held_type(given));
  if (!can_hold(item)) not_yet(n, "a list of " + name(item));
  Type wider;
  if (!join(list.type.items[0], item, wider))
    not_yet(n, "putting " + name(item) + " into a " + name(list.type));
  if (wider == list.type.items[0]) return;
  Type* known = type_behind(receiver);
  if (!known)
    not_yet(n, "putting " + name(item) + " into a " + name(list.type),
            "give the list a name, and an item of that type");
  if (!known->is(Type::Tag::List)) return;
  Type both;
  if (!join(known->items[0], wider, both))
    not_yet(n, "putting " + name(item) + " into a " + name(list.type));
  known->items[0] = both;
  changed_ = true;
}

void Lower::expect_own_list(const Node& n, const Node& receiver, const Value& list) {
  if (!portion_ || !list.outside) return;
  const Node* root = &receiver;
  while (root->kind == NodeKind::Subscript) root = root->one(Field::value);
  not_yet(n,
          root->kind == NodeKind::Name
              ? "changing the list '" + root->text + "' in a parallel loop"
              : "changing a list in a parallel loop that its iterations share",
          "write into an array, at indices of its own for each i");
}

// list[a:b] = more, list[a:b:step] = more
void Lower::store_slice(const Node& n, const Node& receiver, const Value& list, const Value& by,
                        const Value& v) {
  expect_own_list(n, receiver, list);
  const bool steps = !by.items[2].type.is(Type::Tag::None);
  if (v.unknown()) return;
  Value more = boxed(n, v.lazy ? materialise(n, v) : v);
  if (more.type.is(Type::Tag::Range) || more.type.is(Type::Tag::Iterator) ||
      more.type.is(Type::Tag::Tuple))
    more = list_from(n, more);
  if (more.unknown()) return;
  if (!more.type.is(Type::Tag::List))
    not_yet(n, "assigning " + name(more.type) + " to a slice of a list", "list(x)");
  if (more.v.empty() && steps)
    not_yet(n, "assigning an empty list to a slice of a list with a step", "a loop over its items");
  if (more.v.empty()) return delete_slice(n, list, by);
  bool before = std::exchange(changed_, false);
  if (!fits_item(more.type.items[0], list.type.items[0]))
    widen_list(n, receiver, list, more.type.items[0]);
  const bool widened = std::exchange(changed_, changed_ || before);
  if (widened || is_open(list.type) || is_open(more.type)) return;
  if (steps)
    call_function({n, {list, by.items[0], by.items[1], by.items[2], more}, {}},
                  u_.program.library("list replace by"));
  else
    call_function({n, {list, by.items[0], by.items[1], more}, {}},
                  u_.program.library("list replace"));
}

void Lower::delete_slice(const Node& n, const Value& list, const Value& by) {
  expect_own_list(n, *n.one(Field::value), list);
  note_lists(lists_change_);
  if (is_open(list.type)) return;
  if (by.items[2].type.is(Type::Tag::None))
    call_function({n, {list, by.items[0], by.items[1]}, {}}, u_.program.library("list cut"));
  else
    call_function({n, {list, by.items[0], by.items[1], by.items[2]}, {}},
                  u_.program.library("list cut by"));
}

// typed.List.empty_list(item_type)
Value Lower::empty_list(const Call& c) {
  const Node& n = c.n;
  refuse_in_kernel(n, "lists");
  expect(c, "List.empty_list", 0, 1);
  const Value* given = c.get(0, "item_type");
  if (!given || !given->type.is(Type::Tag::DType))
    fail(n, "List.empty_list() takes the type of items", "List.empty_list(types.int64)");
  Type t = list_type(given->type.items.empty() ? Type::number_of(given->type.dtype)
                                               : given->type.items[0]);
  hold_python_numbers(t);
  return new_list(t.items[0], ci(0), ci(0));
}

// A function of heapq that changes a list, which is a method of lists here.
Value Lower::call_heap(const Call& c, const std::string& name) {
  const Node& n = c.n;
  const auto& given = n.all(Field::args);
  if (c.args.empty() || given.empty() || given[0].kind == NodeKind::Starred)
    fail(n, "heapq." + name + "() takes a list", "heapq." + name + "(items)");
  Value self = c.args[0];
  if (self.unknown()) return {};
  if (self.type.listed && becomes_list(n)) return {};
  self = boxed(n, self);
  if (!self.type.is(Type::Tag::List))
    fail(n, "heapq." + name + "() takes a list; got " + frontend::name(self.type), "a list");
  Call rest{n, {}, c.keywords};
  rest.args.assign(c.args.begin() + 1, c.args.end());
  for (const Value& a : rest.args) refuse_none(n, a, "as an item of a list");
  return list_method(rest, given[0], self, "heap " + name.substr(4));
}

// The methods are Python (kernels/library/lists.py).
Value Lower::list_method(const Call& c, const Node& receiver, const Value& self,
                         const std::string& name) {
  const Node& n = c.n;
  const bool sorts = name == "sort" && !self.type.items[0].unknown();
  const bool any = sorts && !self.type.items[0].is_number();
  const bool by = sorts && std::ranges::any_of(c.keywords, [](const auto& k) {
                    return k.first == "key" && !k.second.type.is(Type::Tag::None);
                  });
  const Type& item = self.type.items[0];
  if (sorts && !by && item.is_number() && item.weak && is_complex(item.dtype))
    fail(n, "sort() of complex numbers, which have no order", "x.sort(key=abs)");
  int library = u_.program.library("list " + name + (by ? " by" : any ? " any" : ""));
  if (library < 0) fail(n, frontend::name(self.type) + " has no method '" + name + "'");
  bool reads = name == "index" || name == "count" || name == "copy";
  if (!reads) expect_own_list(n, receiver, self);
  if (!reads) note_lists(lists_change_);
  Call all{n, {self}, c.keywords};
  if (name == "sort") {
    if (!c.args.empty()) fail(n, "sort() takes no positional arguments", "x.sort(reverse=True)");
    std::erase_if(all.keywords, [](const auto& k) { return k.second.type.is(Type::Tag::None); });
  }
  for (const Value& a : c.args)
    all.args.push_back(held(n, boxed(n, a.lazy ? materialise(n, a) : a)));
  size_t last = all.args.size() - 1;
  bool before = std::exchange(changed_, false);
  if (name == "append" && last == 1) widen_list(n, receiver, self, all.args[1].type);
  const bool puts = name == "heap push" || name == "heap pushpop" || name == "heap replace";
  if (puts && last == 1) widen_list(n, receiver, self, all.args[1].type);
  if (name == "insert" && last == 2) widen_list(n, receiver, self, all.args[2].type);
  if (name == "extend" && last == 1) {
    Value& more = all.args[1];
    if (more.type.is(Type::Tag::Tuple) && more.type.text.empty()) {
      for (const Type& i : more.type.items) widen_list(n, receiver, self, i);
    } else {
      if (more.type.is(Type::Tag::Iterator)) more = list_from(n, more);
      Type item = more.type.is(Type::Tag::Range) ? Type::number_of(DType::I64, true)
                  : more.type.is(Type::Tag::List) || more.type.is_array() ? item_type(more.type)
                                                                          : Type{};
      widen_list(n, receiver, self, item);
      changed_ = changed_ || more.unknown();
    }
  }
  bool widened = changed_;
  changed_ = changed_ || before;
  if (widened || self.type.items[0].unknown()) {
    // The next pass knows the type; what a list gives that nobody fills is not known either.
    bool nothing = name == "append" || name == "insert" || name == "extend" || name == "clear" ||
                   name == "heap push" || name == "heap ify";
    Value r;
    if (nothing) r.type = Type::of(Type::Tag::None);
    return r;
  }
  // What loops do all the time stands in their code.
  if (name == "append" && last == 1) {
    Val offset = list_length(self);
    resize_list(self, add(offset, ci(1)));
    write_item(n, self, offset, all.args[1]);
    Value none;
    none.type = Type::of(Type::Tag::None);
    return none;
  }
  if (name == "pop" && last == 0 && owners(self.type.items[0]).empty()) {
    Val offset = sub(list_length(self), ci(1));
    when(less(offset, ci(0)), [&] { raise_at(site(n, "IndexError", "pop from empty list")); });
    Value item = read_item(self, offset);
    resize_list(self, offset);
    return item;
  }
  // What is there when it begins: a.extend(a).
  if (name == "extend" && last == 1 && all.args[1].type.is(Type::Tag::List))
    library = u_.program.library("list extend list");
  return call_function(all, library);
}

// Whether a list of this name changes by a method or by an item that is assigned, as its text says
// before the first pass; what happens by other names is found out.
bool Lower::grows(const Node& target) {
  if (target.kind != NodeKind::Name || u_.options.kernel) return false;
  std::function<bool(const Node&)> called = [&](const Node& n) {
    if (n.kind == NodeKind::Call && n.one(Field::func)->kind == NodeKind::Attribute) {
      const Node& f = *n.one(Field::func);
      const Node& on = *f.one(Field::value);
      for (const char* m : {"append", "extend", "insert", "pop", "remove", "clear", "reverse"})
        if (on.kind == NodeKind::Name && on.text == target.text && f.text == m) return true;
    }
    if (n.kind == NodeKind::Call && n.one(Field::func)->text.starts_with("heapq.heap"))
      if (const Node* on = n.one(Field::args);
          on && on->kind == NodeKind::Name && on->text == target.text)
        return true;
    if (n.kind == NodeKind::Assign || n.kind == NodeKind::AugAssign)
      for (Field f : {Field::target, Field::targets})
        for (const Node& t : n.all(f))
          if (t.kind == NodeKind::Subscript && t.one(Field::value)->kind == NodeKind::Name &&
              t.one(Field::value)->text == target.text)
            return true;
    for (const auto& [field, nodes] : n.fields)
      for (const Node& c : nodes)
        if (called(c)) return true;
    return false;
  };
  return called(scope_->source->definition);
}

// What is found out of lists of several types, or of one, as this function uses them.
void Lower::note_lists(bool& seen) {
  if (seen) return;
  seen = true;
  if (lists_copied_ && lists_change_) changed_ = outdated_ = true;
}

// A list that acts as a tuple is to change: whether the next pass has a list in its place.
bool Lower::becomes_list(const Node& n) {
  if (u_.options.kernel) not_yet(n, "lists in a kernel", "use cuda.local.array(shape, dtype)");
  note_lists(lists_copied_);
  note_lists(lists_change_);
  if (!outdated_) not_yet(n, "lists of several types that change", "a list of items of one type");
  return true;
}

// list(x) of anything that loops can run over.
Value Lower::list_from(const Node& n, const Value& over) {
  // Several lists may be made at one line of the source.
  std::string key =
      "list " + std::to_string(n.line) + ":" + std::to_string(n.col) + " " + name(boxed_type(over));
  if (over.type.is(Type::Tag::Tuple) && over.type.text.empty())
    return collect_list(n, key, ir::kNone, [&](const std::function<void(const Value&)>& put) {
      for (const Value& i : over.items) put(i);
    });
  Sequence all = items_of(n, over);
  auto run = [&](const std::function<void(const Value&)>& put) { over_all(all, put); };
  return collect_list(n, key, all.each ? ir::kNone : all.count, run, all.now != nullptr);
}

// A list of what `run` puts: so many items, or about so many, or as many as it will be where the
// count is none.
Value Lower::collect_list(const Node& n, const std::string& key, Val count,
                          const std::function<void(const std::function<void(const Value&)>&)>& run,
                          bool about) {
  if (u_.options.kernel) not_yet(n, "lists in a kernel", "use cuda.local.array(shape, dtype)");
  Type t = types_[scope_->prefix + key];
  std::string k = scope_->prefix + key;
  bool counts = count != ir::kNone;
  Value made = new_list(t, ci(0), ci(0));
  Val owner = temporaries_.back().slot;
  if (counts) resize_list(made, count);
  Val used = new_variable(DType::I64);
  set(used, ci(0));
  run([&](const Value& given) {
    if (given.unknown()) return;
    Value e = given;
    if (e.type.is_array() && e.type.ndim == 0)
      not_yet(n, "a list of arrays without axes", "x[()], its number");
    if (e.lazy) e = materialise(n, e);
    e = held(n, boxed(n, e));
    if (e.unknown()) return;
    Type wider, item = item_or_none(of_any_value(e.type));
    if (item.is_number()) item.text.clear();
    if (!can_hold(item)) not_yet(n, "a list of " + name(item));
    if (!join(t, item, wider))
      not_yet(n, "a list of " + name(t) + " and " + name(item), "items of one type");
    if (wider != t) {
      Type both;
      if (!join(types_[k], wider, both))
        not_yet(n, "a list of " + name(types_[k]) + " and " + name(wider), "items of one type");
      types_[k] = both;
      changed_ = true;
      return;
    }
    Value list = made;
    list.v = {get(owner)};
    Val offset = get(used);
    if (!counts)
      resize_list(list, add(offset, ci(1)));
    else if (about)
      when(negate(less(offset, list_length(list))), [&] { resize_list(list, add(offset, ci(1))); });
    write_item(n, list, offset, e);
    set(used, add(offset, ci(1)));
  });
  if (t.unknown()) {
    // Nothing is ever put in: an empty list.
    if (!changed_) types_[k] = Type::number_of(DType::F64, true), changed_ = true;
    return {};
  }
  made.v = {get(owner)};
  if (counts && about) resize_list(made, get(used));
  return made;
}

// --- literals, and what operators make
// ------------------------------------------------------------

// Numbers in memory that act as a list: they come back as one, and are Python's own numbers.
Value Lower::list_of(const Node& n, const std::vector<Value>& items) {
  Value a = from_items(n, items, {});
  a.type.text = "list";
  a.type.weak = true;
  for (const Value& i : items) a.type.weak = a.type.weak && i.type.weak;
  return a;
}

// Items of a list have one type: numbers, and those of lists and tuples, where these fit together.
void Lower::join_items(const Node& n, std::span<Value* const> items) {
  auto all = [&](auto&& is) {
    return std::ranges::all_of(items, [&](Value* v) { return is(*v); });
  };
  if (items.size() < 2) return;
  const Type first = items[0]->type;
  if (all([](const Value& v) { return v.type.is_number() || is_plain_list(v); })) {
    if (!all([&](const Value& v) { return v.type.is_array() == first.is_array(); })) return;
    Type common;
    for (Value* v : items) {
      Type wider;
      if (!join(common, of_any_value(item_type(v->type)), wider)) return;
      common = wider;
    }
    for (Value* v : items) {
      const Type own = item_type(v->type);
      if (own.dtype == common.dtype && own.weak == common.weak) continue;
      *v = first.is_array() ? materialise(n, cast(n, *v, common.dtype))
                            : cast(n, *v, common.dtype, common.weak);
      if (!first.is_array()) continue;
      v->type.text = "list";
      v->type.weak = common.weak;
    }
    return;
  }
  if (!all([&](const Value& v) {
        const Type& t = v.type;
        return t.is(Type::Tag::Tuple) && t.text == first.text && t.names == first.names &&
               t.number == first.number && t.listed == first.listed &&
               (t.listed || t.items.size() == first.items.size());
      }))
    return;
  if (first.listed) {
    std::vector<Value*> inner;
    for (Value* v : items)
      for (Value& i : v->items) inner.push_back(&i);
    join_items(n, inner);
  } else {
    for (size_t k = 0; k < first.items.size(); ++k) {
      std::vector<Value*> column;
      for (Value* v : items) column.push_back(&v->items[k]);
      join_items(n, column);
    }
  }
  for (Value* v : items)
    for (size_t k = 0; k < v->items.size(); ++k) v->type.items[k] = v->items[k].type;
}

// A list of numbers is memory; one of other things acts as a tuple where they are of several types.
Value Lower::list_or_tuple(const Node& n, std::vector<Value> items) {
  bool numbers = !items.empty() && !u_.options.kernel;
  for (const Value& i : items) numbers = numbers && i.type.is_number();
  if (numbers) return list_of(n, items);
  std::vector<Value*> all;
  for (Value& i : items) all.push_back(&i);
  join_items(n, all);
  Value r;
  if (items.empty() && !u_.options.kernel) {
    r.type = list_type({});
    r.fresh = true;
    return r;
  }
  r.type = Type::of(Type::Tag::Tuple);
  r.type.listed = true;
  r.fresh = true;
  for (const Value& i : items) r.type.items.push_back(i.type);
  r.items = std::move(items);
  return r;
}

Value Lower::slice_of_list(const Node& n, const Value& list, const Value& by) {
  if (list.type.items[0].unknown()) return {};
  if (is_open(list.type)) return {};
  if (!list.type.items[0].is_number()) {
    std::vector<Value> args{list};
    for (const Value& v : by.items)
      args.push_back(v.type.is(Type::Tag::None) ? v : integer(index_value(n, v)));
    if (args[3].type.is(Type::Tag::None)) args[3] = known_integer(1);
    return call_function({n, std::move(args), {}}, u_.program.library("list slice"));
  }
  Value part = view(n, plain(list), {by});
  Value r = materialise(
      n, lazy(part.type.dtype, part.shape(), [this, part](auto at) { return element(part, at); }));
  r.type.text = "list";
  r.type.weak = list.type.items[0].weak;
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
    Value e = maybe_none(*n.one(Field::elt));
    if (e.lazy) e = materialise(n, e);
    scope_ = outer;
    if (e.unknown()) return {};
    items.push_back(boxed(n, e));
  }
  return list_or_tuple(n, std::move(items));
}

// [f(x) for x in … for y in … if …]
Value Lower::comprehension(const Node& n) {
  const auto& generators = n.all(Field::generators);
  const Node& first = generators[0];
  Value over =
      some(first, maybe_none(*first.one(Field::iter)), "'NoneType' object is not iterable");
  if (over.unknown()) return {};
  bool simple = generators.size() == 1 && first.all(Field::ifs).empty();
  if (simple && over.type.is(Type::Tag::Tuple) && over.type.text.empty())
    return tuple_comprehension(n, over);
  refuse_in_kernel(n, "lists");
  if (over.type.listed) over = boxed(first, over);
  if (over.unknown()) return {};
  Sequence all = items_of(first, over);
  return collect_list(
      n, "c" + std::to_string(n.line) + ":" + std::to_string(n.col) + " item",
      simple && !all.each ? all.count : ir::kNone,
      [&](const std::function<void(const Value&)>& put) {
        comprehension_loops(n, all, [&] {
          Value v;
          if (!ends_within([&] { v = maybe_none(*n.one(Field::elt)); })) put(v);
        });
      },
      all.now != nullptr);
}

// The loops of a comprehension, in a scope of their own, around what is done for each item.
void Lower::comprehension_loops(const Node& n, const Sequence& all,
                                const std::function<void()>& each) {
  const auto& generators = n.all(Field::generators);
  forget_renewed(n);
  Scope* outer = scope_;
  Scope& scope =
      new_scope(outer, outer->source,
                outer->prefix + "c" + std::to_string(n.line) + ":" + std::to_string(n.col) + ".");
  scope.depth = 1;
  std::function<void(size_t, const Sequence&)> nest = [&](size_t g, const Sequence& s) {
    over_all(s, [&](const Value& item) {
      assign(*generators[g].one(Field::target), item);
      std::function<void()> inner = [&] {
        if (g + 1 == generators.size()) return each();
        Value next = expression(*generators[g + 1].one(Field::iter));
        if (!next.unknown()) nest(g + 1, items_of(generators[g + 1], next));
      };
      // Conditions one in the other: the later ones may rely on the earlier.
      const auto& ifs = generators[g].all(Field::ifs);
      std::function<void(size_t)> test = [&](size_t c) {
        if (c == ifs.size()) return inner();
        const Value v = Lower::test(ifs[c]);
        if (v.unknown()) return;
        when(truth(ifs[c], v), [&] {
          narrow(ifs[c], true);
          test(c + 1);
        });
      };
      test(0);
    });
  };
  scope_ = &scope;
  nest(0, all);
  scope_ = outer;
}

}  // namespace numbus::frontend
