// Dictionaries: literals and comprehensions, items, methods, loops over them.
//
// A dict as a value is the owner of a header in counted memory (compile/runtime.h). Searches and
// insertion are Python (kernels/library/dicts.py), compiled for the types of keys and values, over
// the steps that stand here; what moves entries is the runtime's.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

// Words of the header.
enum Header : int64_t { kLength, kData, kCapacity, kLive, kVersion, kRoom, kSlots, kMask };

// Whether a value of this type can be looked up: what is equal has the same hash.
bool hashable(const Type& t) {
  if (t.is(Type::Tag::Tuple))
    return t.text.empty() && !t.listed && !t.items.empty() &&
           std::ranges::all_of(t.items, hashable);
  return t.unknown() || t.is_text() || (t.is_number() && !is_complex(t.dtype));
}

int64_t key_offset() { return 8; }
int64_t value_offset(const Type& dict) {
  return 8 + 8 * static_cast<int64_t>(words(dict.items[0]).size());
}

// Whether a dict with keys of one type takes one of another as it is.
bool fits_key(const Type& own, const Type& key) {
  Type both;
  if (own.unknown() || key.unknown() || !join_keys(own, key, both)) return false;
  if (!own.is(Type::Tag::Tuple)) return both.dtype == key.dtype;
  for (size_t i = 0; i < own.items.size(); ++i)
    if (!fits_key(own.items[i], key.items[i])) return false;
  return true;
}

bool is_view(const Value& v, const char* what) {
  return v.type.is(Type::Tag::Iterator) && v.type.text == what;
}

// Whether nothing is known of its keys, or of its values.
bool lacks_types(const Type& dict) { return dict.items[0].unknown() || dict.items[1].unknown(); }

}  // namespace

bool Lower::is_dict_view(const Value& v) {
  return is_view(v, "dict keys") || is_view(v, "dict values") || is_view(v, "dict items");
}

Type Lower::dict_type(Type key, Type value) {
  Type t = Type::of(Type::Tag::Dict);
  for (Type* part : {&key, &value})
    if (part->is_number()) part->text.clear();
  t.owned = true;
  t.items = {of_any_value(std::move(key)), of_any_value(std::move(value))};
  return t;
}

// One with all that is known of its types, or nothing.
bool Lower::is_open(const Type& t) {
  if (t.is(Type::Tag::List) && t.items[0].unknown()) return true;
  if (t.is(Type::Tag::Dict) && (t.items[0].unknown() || t.items[1].unknown())) return true;
  const bool holds =
      t.is(Type::Tag::List) || t.is(Type::Tag::Dict) || t.is(Type::Tag::Tuple) || t.is_maybe();
  return holds && std::ranges::any_of(t.items, is_open);
}

// What nothing is ever put into holds floats, by integers.
void Lower::close_type(Type& t) {
  const bool list = t.is(Type::Tag::List), dict = t.is(Type::Tag::Dict);
  for (size_t k = 0; k < t.items.size(); ++k)
    if ((list || dict) && t.items[k].unknown())
      t.items[k] = Type::number_of(dict && k == 0 ? DType::I64 : DType::F64, true);
    else
      close_type(t.items[k]);
}

void Lower::refuse_in_kernel(const Node& n, const char* what) {
  if (u_.options.kernel)
    not_yet(n, std::string(what) + " in a kernel", "arrays, as arguments or by cuda.local.array");
}

// --- entries
// --------------------------------------------------------------------------------------------

Val Lower::dict_word(const Value& dict, int64_t which) {
  Val header = intrinsic(ir::Intrinsic::data_of, DType::I64, dict.v[0]);
  return b_->emit(Op::read, DType::I64, header, ci(8 * which), ir::kNone,
                  static_cast<int64_t>(ir::Space::Global));
}

void Lower::set_dict_word(const Value& dict, int64_t which, Val to) {
  Val header = intrinsic(ir::Intrinsic::data_of, DType::I64, dict.v[0]);
  write_at(DType::I64, to, header, ci(8 * which), ir::Space::Global);
}

Val Lower::dict_length(const Value& dict) {
  return dict.v.empty() ? ci(0) : dict_word(dict, kLive);
}

void Lower::dict_step(const Value& dict, ir::DictStep step, Val entry) {
  expect_memory(intrinsic(ir::Intrinsic::dict_step, DType::I64, dict.v[0],
                          entry == ir::kNone ? ci(0) : entry, ir::kNone, ir::Space::Global,
                          static_cast<int64_t>(step)));
}

Value Lower::new_dict(const Type& t) {
  Value r;
  r.type = t;
  r.fresh = true;
  r.v = {intrinsic(ir::Intrinsic::dict, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                   ir::Space::Global,
                   lacks_types(t) ? ir::stored_item(24, 0) : stored_item(entry_of(t)))};
  expect_memory(r.v[0]);
  own(r.v[0]);
  return r;
}

// Where a part of an entry lies: the base and the offset.
std::pair<Val, Val> Lower::entry_at(const Value& dict, Val entry, int64_t offset) {
  int64_t bytes = 8 * static_cast<int64_t>(words(entry_of(dict.type)).size());
  return {dict_word(dict, kData), add(mul(entry, ci(bytes)), ci(offset))};
}

Value Lower::key_of_entry(const Value& dict, Val entry) {
  auto [base, offset] = entry_at(dict, entry, key_offset());
  return read_words(dict.type.items[0], base, offset, dict);
}

Value Lower::value_of_entry(const Value& dict, Val entry) {
  auto [base, offset] = entry_at(dict, entry, value_offset(dict.type));
  return read_words(dict.type.items[1], base, offset, dict);
}

void Lower::set_value_of_entry(const Node& n, const Value& dict, Val entry, const Value& v) {
  put_in_lists(origin_of(v));
  auto [base, offset] = entry_at(dict, entry, value_offset(dict.type));
  const Type& t = dict.type.items[1];
  write_words(t, convert_to(n, v, t), base, offset);
}

// The hash of a key, not negative. Equal keys have equal ones, 0.0 and -0.0 too.
Val Lower::hash_of(const Node& n, const Value& key) {
  auto mixed = [&](Val h) {
    h = b_->emit(Op::multiply, DType::I64, h, ci(static_cast<int64_t>(0x9E3779B97F4A7C15)));
    return b_->emit(Op::bitwise_xor, DType::I64, h,
                    b_->emit(Op::right_shift, DType::I64, h, ci(32)));
  };
  std::function<Val(const Value&)> of = [&](const Value& v) {
    if (v.type.is_text()) {
      const Value hash = call_string(n, "hash", {v});
      return hash.unknown() ? ci(0) : mixed(hash.v[0]);
    }
    if (v.type.is(Type::Tag::Tuple)) {
      Val all = ci(static_cast<int64_t>(v.items.size()));
      for (const Value& i : v.items)
        all = mixed(b_->emit(Op::bitwise_xor, DType::I64, mul(all, ci(31)), of(i)));
      return all;
    }
    Val word;
    if (is_float(v.type.dtype)) {
      word = b_->emit(Op::bits, DType::I64, as(v, DType::F64));
      Val negative_zero = b_->emit(Op::equal, DType::Bool, word, ci(INT64_MIN));
      word = b_->emit(Op::select, DType::I64, negative_zero, ci(0), word);
    } else {
      word = as(v, DType::I64);
    }
    return mixed(word);
  };
  return b_->emit(Op::bitwise_and, DType::I64, of(key), ci(INT64_MAX));
}

// --- keys
// -----------------------------------------------------------------------------------------------

// The variable's type that a value is read from, whose items may become wider: `d`, `d[k]`,
// `d[k][i]`, `d.setdefault(k, [])`. Null: it has none.
Type* Lower::type_behind(const Node& n, std::string* key) {
  if (n.kind == NodeKind::Name) {
    Variable* variable = find_variable(n.text);
    if (!variable) return nullptr;
    if (key) *key = variable->key;
    Type& known = types_[variable->key];
    return known.is_maybe() ? &known.items[0] : &known;
  }
  const Node* of = nullptr;
  if (n.kind == NodeKind::Subscript) of = n.one(Field::value);
  if (n.kind == NodeKind::Call && n.one(Field::func)->kind == NodeKind::Attribute) {
    const Node& f = *n.one(Field::func);
    if (f.text == "setdefault" || f.text == "get") of = f.one(Field::value);
  }
  Type* outer = of ? type_behind(*of, key) : nullptr;
  if (!outer || !(outer->is(Type::Tag::List) || outer->is(Type::Tag::Dict))) return nullptr;
  return &outer->items.back();
}

// The type of a dict that holds entries of these types, too; unknown: nothing is said of these.
Type Lower::dict_holding(const Node& n, const Type& dict, const Type& given_key,
                         const Type& given_value) {
  const Type &own_key = dict.items[0], &own_value = dict.items[1];
  // None marks sets; of None alone it is not known what else there will be.
  const bool none = given_value.is(Type::Tag::None) && !dict.is_set();
  const Type key = held_type(given_key), value = none ? Type::maybe({}) : held_type(given_value);
  if (!hashable(key))
    not_yet(n, "keys of the type " + name(key),
            "numbers but complex ones, strings, and tuples of these");
  if (!value.unknown() && !can_hold(value)) not_yet(n, "a dict with values of " + name(value));
  Type wider = dict;
  if (!fits_key(key, own_key) && !join_keys(own_key, key, wider.items[0]))
    not_yet(n, "keys of two types in one dict: " + name(own_key) + " and " + name(key),
            "keys of one type");
  if (!fits_item(value, own_value) && !join(own_value, value, wider.items[1]))
    not_yet(n, "putting " + name(value) + " into a " + name(dict), "values of one type");
  return dict_type(wider.items[0], wider.items[1]);
}

// A dict gets a key or a value of that type; unknown: none. Whether a later pass has to see it.
bool Lower::widen_dict(const Node& n, const Node& receiver, const Value& dict, const Type& key,
                       const Type& value) {
  Type wider = dict_holding(n, dict.type, key, value);
  if (wider == dict.type) return false;
  Type* known = type_behind(receiver);
  if (!known)
    not_yet(n, "putting " + name(key) + ": " + name(value) + " into a " + name(dict.type),
            "give the dict a name, and an entry of these types");
  Type both;
  if (known->is(Type::Tag::Dict) && join(*known, wider, both) && both != *known) {
    *known = both;
    changed_ = true;
  }
  return true;
}

// A key as one of the dict's type.
Value Lower::as_key(const Node& n, const Value& dict, const Value& key) {
  const Type own = held_type(boxed_type(key));
  if (!hashable(own))
    not_yet(n, "keys of the type " + name(own),
            "numbers but complex ones, strings, and tuples of these");
  if (!fits_key(own, dict.type.items[0]))
    not_yet(n, "a key of the type " + name(own) + " for a " + name(dict.type), "keys of one type");
  return convert_to(n, key, dict.type.items[0]);
}

Val Lower::call_dict(const Node& n, const char* what, const Value& dict, const Value& key) {
  // What the values hold a later pass knows, and calls it.
  if (is_open(dict.type)) return ci(0);
  Value r = call_function({n, {dict, key}, {}}, u_.program.library(std::string("dict ") + what));
  return r.unknown() ? ir::kNone : r.v[0];
}

// Raises a KeyError whose argument is the key itself.
void Lower::raise_key_error(const Node& n, const Value& key) {
  Value tuple;
  tuple.type = Type::tuple_of({of_any_value(key.type)});
  tuple.items = {key};
  const Val owner = owned_arguments(n, tuple);
  const int s = site(n, "KeyError", name(tuple.type));
  u_.result.sites[static_cast<size_t>(s)].argument = tuple.type;
  raise_at(s, owner);
}

// Of a dict that nobody fills, what is looked up says of which type its keys are.
void Lower::learn_key(const Node& n, const Node& receiver, const Value& dict, const Value& key) {
  if (!key.unknown() && dict.type.items[0].unknown() && type_behind(receiver))
    widen_dict(n, receiver, dict, boxed_type(key), {});
}

Value Lower::read_dict(const Node& n, const Value& dict, const Value& given) {
  if (dict.type.is_set()) fail(n, "a set has no items by index or key", "x in s");
  if (dict.type.items[0].unknown()) {
    if (n.kind == NodeKind::Subscript) learn_key(n, *n.one(Field::value), dict, given);
    return {};
  }
  if (lacks_types(dict.type)) return {};
  Value key = as_key(n, dict, given);
  Val entry = call_dict(n, "find", dict, key);
  if (entry == ir::kNone) return {};
  if (n.kind == NodeKind::Subscript) note_entry(*n.one(Field::value), *n.one(Field::slice), entry);
  when(less(entry, ci(0)), [&] { raise_key_error(n, key); });
  return value_of_entry(dict, entry);
}

void Lower::store_dict(const Node& n, const Node& receiver, const Value& dict, const Value& given,
                       const Value& v) {
  if (dict.type.is_set()) fail(n, "a set has no items by index or key", "s.add(x)");
  expect_own_dict(n, receiver, dict);
  if (v.unknown() || given.unknown()) return;
  Value value = boxed(n, v.lazy ? materialise(n, v) : v);
  if (value.unknown()) return;
  if (widen_dict(n, receiver, dict, boxed_type(given), value.type)) return;
  if (lacks_types(dict.type)) return;
  Value key = as_key(n, dict, given);
  if (&n == updated_ && updated_entry_ != ir::kNone) {
    const Val found = updated_entry_, entry = new_variable(DType::I64);
    set(entry, found);
    when(less(found, ci(0)), [&] {
      const Val place = call_dict(n, "place", dict, key);
      if (place != ir::kNone) set(entry, place);
    });
    return set_value_of_entry(n, dict, get(entry), value);
  }
  Val entry = call_dict(n, "place", dict, key);
  if (entry != ir::kNone) set_value_of_entry(n, dict, entry, value);
}

void Lower::delete_key(const Node& n, const Value& dict, const Value& given) {
  if (dict.type.is_set()) fail(n, "a set has no items by index or key", "s.discard(x)");
  expect_own_dict(n, *n.one(Field::value), dict);
  if (lacks_types(dict.type) || given.unknown()) {
    learn_key(n, *n.one(Field::value), dict, given);
    return;
  }
  Value key = as_key(n, dict, given);
  Val entry = call_dict(n, "find", dict, key);
  if (entry == ir::kNone) return;
  when(less(entry, ci(0)), [&] { raise_key_error(n, key); });
  dict_step(dict, ir::DictStep::Drop, entry);
}

// Iterations of a parallel loop may read a dict that they share, not change it.
void Lower::expect_own_dict(const Node& n, const Node& receiver, const Value& dict) {
  if (!portion_ || !dict.outside) return;
  not_yet(n,
          receiver.kind == NodeKind::Name
              ? "changing the dict '" + receiver.text + "' in a parallel loop"
              : "changing a dict in a parallel loop that its iterations share",
          "write into an array, at indices of its own for each i");
}

Value Lower::in_dict(const Node& n, const Value& dict, const Value& given) {
  if (given.unknown()) return {};
  if (lacks_types(dict.type) || dict.v.empty())
    return from_scalar(Scalar::from_bool(false), DType::Bool, true);
  Val entry = call_dict(n, "find", dict, as_key(n, dict, given));
  return entry == ir::kNone ? Value{} : boolean(negate(less(entry, ci(0))));
}

// x in d.values(): all of them are looked at.
Value Lower::in_values(const Node& n, const Value& values, const Value& given) {
  const Value& dict = values.items[0];
  if (given.unknown()) return {};
  if (lacks_types(dict.type) || dict.v.empty())
    return from_scalar(Scalar::from_bool(false), DType::Bool, true);
  const Type& t = dict.type.items[1];
  if (t.is_array() || t.is(Type::Tag::List) || t.is(Type::Tag::Dict) || t.is_maybe())
    not_yet(n, "'in' of values that are " + name(t), "a loop over them");
  const Val found = new_variable(DType::Bool);
  set(found, b_->constant(DType::Bool, Scalar::from_bool(false)));
  Sequence all = dict_sequence(n, values);
  counted(all, [&](Val i) {
    const Value same = compare_one(n, NodeKind::Eq, given, all.item(i));
    if (!same.unknown())
      set(found, b_->emit(Op::logical_or, DType::Bool, get(found), truth(n, same)));
  });
  return boolean(get(found));
}

// (key, value) in d.items(): whether there is that key, with that value.
Value Lower::in_items(const Node& n, const Value& items, const Value& given) {
  const Value& dict = items.items[0];
  if (given.unknown()) return {};
  const bool pair =
      given.type.is(Type::Tag::Tuple) && !given.type.listed && given.items.size() == 2;
  if (!pair || lacks_types(dict.type) || dict.v.empty())
    return from_scalar(Scalar::from_bool(false), DType::Bool, true);
  if (dict.type.items[1].is_array()) not_yet(n, "'in' of items whose values are arrays", "a loop");
  const Val found = new_variable(DType::Bool);
  set(found, b_->constant(DType::Bool, Scalar::from_bool(false)));
  const Value has = in_dict(n, dict, given.items[0]);
  if (has.unknown()) return {};
  when(truth(n, has), [&] {
    const Value same = compare_one(n, NodeKind::Eq, given.items[1], index(n, dict, given.items[0]));
    if (!same.unknown()) set(found, truth(n, same));
  });
  return boolean(get(found));
}

// dict.fromkeys(keys, value=None)
Value Lower::dict_from_keys(const Call& c) {
  const Node& n = c.n;
  expect(c, "dict.fromkeys", 1, 2);
  const Value &keys = c.args[0], value = c.args.size() < 2 ? none() : c.args[1];
  if (keys.unknown() || value.unknown()) return {};
  const Value one = held(n, boxed(n, value.lazy ? materialise(n, value) : value));
  return collect_dict(n, [&](const std::function<void(const Value&, const Value&)>& put) {
    if (keys.type.is(Type::Tag::Tuple) && keys.type.text.empty()) {
      for (const Value& k : keys.items) put(k, one);
      return;
    }
    Sequence all = sequence(n, keys);
    counted(all, [&](Val i) { put(all.item(i), one); });
  });
}

// Two dicts have the same keys, and equal values at each.
Value Lower::equal_dicts(const Node& n, const Value& a, const Value& b) {
  if (is_open(a.type) || is_open(b.type)) return {};
  Type both;
  std::function<bool(const Type&)> has_arrays = [&](const Type& t) {
    return t.is_array() || std::ranges::any_of(t.items, has_arrays);
  };
  if (!join(a.type, b.type, both) || has_arrays(both))
    not_yet(n, "comparing " + name(a.type) + " and " + name(b.type), "compare their items");
  Value equal = call_function({n, {a, b}, {}}, u_.program.library("dict equal"));
  if (equal.unknown() || a.v.empty() || b.v.empty()) return equal;
  // A dict is equal to itself, whatever its values are: CPython asks first for the objects.
  const Val itself = b_->emit(Op::equal, DType::Bool, a.v[0], b.v[0]);
  return boolean(b_->emit(Op::logical_or, DType::Bool, itself, truth(n, equal)));
}

// a | b: all entries of both, those of the second where both have a key.
Value Lower::binary_dicts(const Node& n, Op op, const Value& a, const Value& b) {
  if (a.type.is_set() || b.type.is_set()) return binary_sets(n, op, a, b);
  if (op != Op::bitwise_or || !a.type.is(Type::Tag::Dict) || !b.type.is(Type::Tag::Dict))
    fail(n, what_works(op) + " does not work on " + name(a.type) + " and " + name(b.type));
  Type both;
  if (!join(a.type, b.type, both))
    not_yet(n, "a dict of the entries of a " + name(a.type) + " and a " + name(b.type),
            "keys of one type, and values of one type");
  Value r = new_dict(both);
  for (const Value* v : {&a, &b})
    if (!v->v.empty() && !is_open(both) && !is_open(v->type))
      call_function({n, {r, *v}, {}}, u_.program.library("dict update"));
  return r;
}

// --- making them
// ----------------------------------------------------------------------------------------

// Entries that `run` puts into a dict, whose types are found by and by.
Value Lower::collect_dict(
    const Node& n,
    const std::function<void(const std::function<void(const Value&, const Value&)>&)>& run) {
  refuse_in_kernel(n, "dicts");
  std::string k = scope_->prefix + "dict " + std::to_string(n.line) + ":" + std::to_string(n.col);
  if (!types_.contains(k)) types_[k] = dict_type({}, {});
  Type t = types_[k];
  Value made = new_dict(t);
  Val owner = temporaries_.back().slot;
  run([&](const Value& given, const Value& v) {
    if (given.unknown() || v.unknown()) return;
    Value key = boxed(n, given.lazy ? materialise(n, given) : given);
    Value value = boxed(n, v.lazy ? materialise(n, v) : v);
    if (key.unknown() || value.unknown()) return;
    Type wider = dict_holding(n, t, key.type, value.type);
    if (wider != t) {
      Type both;
      if (join(types_[k], wider, both)) types_[k] = both;
      changed_ = true;
      return;
    }
    if (lacks_types(t)) return;
    Value dict = made;
    dict.v = {get(owner)};
    Val entry = call_dict(n, "place", dict, as_key(n, dict, key));
    if (entry != ir::kNone) set_value_of_entry(n, dict, entry, value);
  });
  if (lacks_types(t)) return {};  // a later pass knows
  made.v = {get(owner)};
  return made;
}

// {k: v, …, **other}
Value Lower::dict_literal(const Node& n) {
  const auto &keys = n.all(Field::keys), &values = n.all(Field::values);
  refuse_in_kernel(n, "dicts");
  if (values.empty()) {
    Value r;
    r.type = dict_type({}, {});
    r.fresh = true;
    return r;
  }
  return collect_dict(n, [&](const std::function<void(const Value&, const Value&)>& put) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (keys[i].kind == NodeKind::Unsupported && keys[i].text.empty()) {
        const Value from = expression(values[i]);
        if (from.unknown()) continue;
        if (!from.type.is(Type::Tag::Dict) || from.type.is_set())
          fail(values[i], "** in a dict takes a dict; got " + name(from.type));
        pairs_of(values[i], dict_view("items", from), put);
        continue;
      }
      Value key = expression(keys[i]);
      put(key, maybe_none(values[i]));
    }
  });
}

// dict(), dict(other), dict(pairs), dict(a=1)
Value Lower::dict_from(const Call& c) {
  const Node& n = c.n;
  refuse_in_kernel(n, "dicts");
  expect(c, "dict", 0, 1);
  if (c.args.empty() && c.keywords.empty()) return dict_literal(n);
  const Value* from = c.args.empty() ? nullptr : &c.args[0];
  if (from && from->type.is(Type::Tag::Dict)) {
    if (!c.keywords.empty()) not_yet(n, "dict() of a dict with keywords", "d.update(…)");
    return copy_dict(n, *from);
  }
  return collect_dict(n, [&](const std::function<void(const Value&, const Value&)>& put) {
    if (from) pairs_of(n, *from, put);
    for (const auto& [k, v] : c.keywords) put(text(k), v);
  });
}

// Each pair of what a loop can go over.
void Lower::pairs_of(const Node& n, const Value& from,
                     const std::function<void(const Value&, const Value&)>& put) {
  auto pair = [&](const Value& v) {
    if (v.unknown()) return;
    if (!v.type.is(Type::Tag::Tuple) || v.items.size() != 2)
      not_yet(n, "a dict of " + name(v.type), "tuples of a key and a value");
    put(v.items[0], v.items[1]);
  };
  if (from.unknown()) return;
  if (from.type.is(Type::Tag::Generator)) return pairs_of(n, list_from(n, from), put);
  if (from.type.is(Type::Tag::Tuple) && from.type.text.empty()) {
    for (const Value& v : from.items) pair(v);
    return;
  }
  Sequence all = sequence(n, from);
  counted(all, [&](Val i) { pair(all.item(i)); });
}

// typed.Dict.empty(key_type, value_type)
Value Lower::empty_dict(const Call& c) {
  const Node& n = c.n;
  refuse_in_kernel(n, "dicts");
  for (const auto& [k, v] : c.keywords)
    if (k != "key_type" && k != "value_type") not_yet(n, "Dict.empty() with " + k + "=");
  expect(c, "Dict.empty", 0, 2);
  Type parts[2];
  for (size_t k = 0; k < 2; ++k) {
    const Value* given = c.get(k, k ? "value_type" : "key_type");
    if (!given || !given->type.is(Type::Tag::DType))
      fail(n, "Dict.empty() takes the types of keys and values",
           "Dict.empty(types.int64, types.float64)");
    parts[k] =
        given->type.items.empty() ? Type::number_of(given->type.dtype) : given->type.items[0];
  }
  Type t = dict_type(parts[0], parts[1]);
  hold_python_numbers(t);
  dict_holding(n, t, t.items[0], t.items[1]);
  return new_dict(t);
}

Value Lower::copy_dict(const Node& n, const Value& from) {
  if (lacks_types(from.type)) return from.v.empty() ? from : Value{};
  Value r = new_dict(from.type);
  if (is_open(from.type)) return r;
  call_function({n, {r, from}, {}},
                u_.program.library(from.type.is_set() ? "set update" : "dict update"));
  return r;
}

// {k: v for … in … if …}
Value Lower::dict_comprehension(const Node& n) {
  const Node& first = n.all(Field::generators)[0];
  Value over = expression(*first.one(Field::iter));
  if (over.unknown()) return {};
  Sequence all = items_of(first, over);
  return collect_dict(n, [&](const std::function<void(const Value&, const Value&)>& put) {
    comprehension_loops(n, all, [&] {
      Value key, value;
      bool ends = ends_within([&] {
        key = expression(*n.one(Field::key));
        value = maybe_none(*n.one(Field::value));
      });
      if (!ends) put(key, value);
    });
  });
}

// A dict that nobody else holds as one of wider types.
Value Lower::to_dict(const Node& n, const Value& v, const Type& t) {
  if (v.v.empty()) return new_dict(t);
  if (v.type == t) return v;
  if (!v.fresh)
    not_yet(n, "a " + name(t) + " of a " + name(v.type), "values of one type from the start");
  if (t.is_set()) return to_set(n, v, t);
  Value r = new_dict(t), from = v;
  if (!is_open(v.type)) call_function({n, {r, from}, {}}, u_.program.library("dict update"));
  return r;
}

// --- loops
// ----------------------------------------------------------------------------------------------

Value Lower::dict_view(const std::string& what, const Value& dict) {
  Value r;
  r.type = Type::of(Type::Tag::Iterator);
  r.type.text = "dict " + what;
  r.type.items = {dict.type};
  r.items = {dict};
  return r;
}

// Entries by their numbers. A dict whose size changes meanwhile ends the loop with an error, as in
// CPython; one that has been given other keys does, too.
Lower::Sequence Lower::dict_sequence(const Node& at, const Value& v) {
  const Value dict = v.type.is(Type::Tag::Dict) ? v : v.items[0];
  const std::string what = v.type.is(Type::Tag::Dict) ? "dict keys" : v.type.text;
  if (lacks_types(dict.type)) return {ci(0), [](Val) { return Value{}; }, {}};
  if (portion_ && dict.outside)
    not_yet(at, "a loop over a dict that iterations of a parallel loop share",
            "a list of its items, made before: list(d.items())");
  dict_step(dict, ir::DictStep::Settle);
  Val count = dict_length(dict), version = dict_word(dict, kVersion);
  auto item = [this, dict, what](Val i) {
    if (what == "dict keys") return key_of_entry(dict, i);
    if (what == "dict values") return value_of_entry(dict, i);
    Value pair;
    pair.items = {key_of_entry(dict, i), value_of_entry(dict, i)};
    pair.type = Type::tuple_of({pair.items[0].type, pair.items[1].type});
    return pair;
  };
  auto now = [this, dict, count, version, &at] {
    auto unless_same = [&](Val a, Val b, const char* text) {
      when(b_->emit(Op::not_equal, DType::Bool, a, b),
           [&] { raise_at(site(at, "RuntimeError", text)); });
    };
    unless_same(dict_length(dict), count,
                dict.type.is_set() ? "Set changed size during iteration"
                                   : "dictionary changed size during iteration");
    unless_same(dict_word(dict, kVersion), version, "dictionary keys changed during iteration");
    return count;
  };
  return {count, item, now};
}

// --- methods
// --------------------------------------------------------------------------------------------

Value Lower::dict_method(const Call& c, const Node& receiver, const Value& self,
                         const std::string& name) {
  if (self.type.is_set()) return set_method(c, receiver, self, name);
  const Node& n = c.n;
  Value none;
  none.type = Type::of(Type::Tag::None);
  if (!c.keywords.empty()) {
    if (name != "update") fail(n, "." + name + "() of a dict takes no keywords");
    not_yet(n, "update() with keywords, whose keys are strings");
  }
  auto argument = [&](size_t k) {
    const Value& a = c.args[k];
    return boxed(n, a.lazy ? materialise(n, a) : a);
  };
  if (self.v.empty()) not_yet(n, "an empty dict here", "a name for it: d = {}");
  if (name == "keys" || name == "values" || name == "items") {
    expect(c, name, 0, 0);
    return dict_view(name, self);
  }
  if (name == "get" || name == "pop" || name == "setdefault") {
    expect(c, name, 1, 2);
    if (name != "get") expect_own_dict(n, receiver, self);
    const bool gives_none = name == "get" && c.args.size() == 1;
    const bool one = c.args.size() == 1 && !gives_none;
    Value other = one ? Value{} : gives_none ? none : argument(1);
    if (!one && other.unknown()) return {};
    if (name == "setdefault" && (one || other.type.is(Type::Tag::None) || other.type.is_maybe()))
      not_yet(n, "setdefault() that may give None", "a default of the type of the values");
    if (name == "setdefault" && widen_dict(n, receiver, self, boxed_type(c.args[0]), other.type))
      return {};
    if (lacks_types(self.type)) {
      learn_key(n, receiver, self, c.args[0]);
      // As long as nothing else is known of the values: d[k] = d.get(k, 0) + 1.
      Value r = one || other.type.is(Type::Tag::None) ? Value{} : other;
      r.known.reset();
      return r;
    }
    Value key = as_key(n, self, c.args[0]);
    Val found = call_dict(n, "find", self, key);
    if (found == ir::kNone) return {};
    if (name == "get") note_entry(receiver, n.all(Field::args)[0], found);
    Val there = negate(less(found, ci(0)));
    if (name == "setdefault") {
      Val entry = new_variable(DType::I64);
      set(entry, found);
      when(negate(there), [&] {
        Val place = call_dict(n, "place", self, key);
        if (place == ir::kNone) return;
        set_value_of_entry(n, self, place, other);
        set(entry, place);
      });
      return value_of_entry(self, get(entry));
    }
    auto taken = [&] {
      Value v = value_of_entry(self, found);
      if (name == "pop") dict_step(self, ir::DictStep::Drop, found);
      return v;
    };
    if (one) {
      when(negate(there), [&] { raise_key_error(n, key); });
      return taken();
    }
    return joined(n, "dict " + name, taken, [&] { return other; }, there);
  }
  if (name == "popitem") {
    expect(c, name, 0, 0);
    expect_own_dict(n, receiver, self);
    if (lacks_types(self.type)) return {};
    Val last = sub(dict_word(self, kLength), ci(1));
    when(less(last, ci(0)),
         [&] { raise_at(site(n, "KeyError", "popitem(): dictionary is empty")); });
    Value pair;
    pair.items = {key_of_entry(self, last), value_of_entry(self, last)};
    pair.type = Type::tuple_of({pair.items[0].type, pair.items[1].type});
    dict_step(self, ir::DictStep::Drop, last);
    return pair;
  }
  if (name == "clear") {
    expect(c, name, 0, 0);
    expect_own_dict(n, receiver, self);
    if (!lacks_types(self.type)) dict_step(self, ir::DictStep::Clear);
    return none;
  }
  if (name == "copy") {
    expect(c, name, 0, 0);
    return copy_dict(n, self);
  }
  if (name == "update") {
    expect(c, name, 0, 1);
    if (c.args.empty()) return none;
    expect_own_dict(n, receiver, self);
    const Value& from = c.args[0];
    if (from.unknown()) return {};
    if (!from.type.is(Type::Tag::Dict)) {
      pairs_of(n, from,
               [&](const Value& k, const Value& v) { store_dict(n, receiver, self, k, v); });
      return none;
    }
    if (from.v.empty()) return none;
    if (widen_dict(n, receiver, self, from.type.items[0], from.type.items[1])) return none;
    if (is_open(self.type) || is_open(from.type)) return none;
    call_function({n, {self, from}, {}}, u_.program.library("dict update"));
    return none;
  }
  if (name == "fromkeys") not_yet(n, "dict.fromkeys()", "a comprehension: {k: v for k in keys}");
  fail(n, frontend::name(self.type) + " has no method '" + name + "'");
}

// --- what the library is made of
// ------------------------------------------------------------------------

Value Lower::dict_primitive(const Call& c, const std::string& what) {
  const Node& n = c.n;
  const Value& dict = c.args[0];
  if (what == "hash") return integer(hash_of(n, dict));  // of a key
  auto number = [&](size_t k) { return index_value(n, c.args[k]); };
  if (what == "mask") return integer(dict_word(dict, kMask));
  if (what == "room") return integer(dict_word(dict, kRoom));
  if (what == "slot")
    return integer(b_->emit(Op::read, DType::I64, dict_word(dict, kSlots), mul(number(1), ci(8)),
                            ir::kNone, static_cast<int64_t>(ir::Space::Global)));
  if (what == "mark") {
    auto [base, offset] = entry_at(dict, number(1), 0);
    return read_at(DType::I64, base, offset, ir::Space::Global);
  }
  if (what == "same") {  // whether an entry has that key: looked at where it lies
    auto [keys, at] = entry_at(dict, number(1), key_offset());
    return compare_one(n, NodeKind::Eq, read_words(dict.type.items[0], keys, at, dict, false),
                       c.args[2]);
  }
  if (what == "grow") {
    dict_step(dict, ir::DictStep::Grow);
    Value none;
    none.type = Type::of(Type::Tag::None);
    return none;
  }
  // new(dict, key, hash, slot): an entry with that key, and nothing as its value.
  Val entry = dict_word(dict, kLength), hash = number(2);
  auto [base, offset] = entry_at(dict, entry, 0);
  write_at(DType::I64, hash, base, offset, ir::Space::Global);
  auto [keys, at_key] = entry_at(dict, entry, key_offset());
  write_words(dict.type.items[0], c.args[1], keys, at_key, true);
  const int64_t words_before = value_offset(dict.type) / 8;
  const uint32_t held = ir::item_owners(stored_item(entry_of(dict.type)));
  for (int64_t w = words_before; w < static_cast<int64_t>(ir::kItemWords); ++w)
    if (held >> w & 1) {
      auto [values, at] = entry_at(dict, entry, 8 * w);
      write_at(DType::I64, ci(0), values, at, ir::Space::Global);
    }
  constexpr int64_t kUpper = ~int64_t{0xFFFFFFFF};
  Val slot = b_->emit(Op::bitwise_or, DType::I64,
                      b_->emit(Op::bitwise_and, DType::I64, hash, ci(kUpper)), add(entry, ci(1)));
  write_at(DType::I64, slot, dict_word(dict, kSlots), mul(number(3), ci(8)), ir::Space::Global);
  set_dict_word(dict, kLength, add(entry, ci(1)));
  set_dict_word(dict, kLive, add(dict_word(dict, kLive), ci(1)));
  set_dict_word(dict, kRoom, sub(dict_word(dict, kRoom), ci(1)));
  return integer(entry);
}

}  // namespace numbus::frontend
