// Sets: dicts whose entries have a key and nothing else. Searches and what moves entries are those
// of dicts (dicts.cpp); what goes over all items is Python (kernels/library/dicts.py).
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

Type Lower::set_type(Type item) { return dict_type(std::move(item), Type::of(Type::Tag::None)); }

// What `run` puts into a set, whose type is found by and by.
Value Lower::collect_set(const Node& n,
                         const std::function<void(const std::function<void(const Value&)>&)>& run) {
  refuse_in_kernel(n, "sets");
  std::string k = scope_->prefix + "set " + std::to_string(n.line) + ":" + std::to_string(n.col);
  if (!types_.contains(k)) types_[k] = set_type({});
  Type t = types_[k];
  Value made = new_dict(t);
  Val owner = temporaries_.back().slot;
  run([&](const Value& given) {
    if (given.unknown()) return;
    Value item = boxed(n, given.lazy ? materialise(n, given) : given);
    if (item.unknown()) return;
    Type wider = dict_holding(n, t, item.type, {});
    if (wider != t) {
      Type both;
      if (join(types_[k], wider, both)) types_[k] = both;
      changed_ = true;
      return;
    }
    if (is_open(t)) return;
    Value set = made;
    set.v = {get(owner)};
    call_dict(n, "place", set, as_key(n, set, item));
  });
  if (is_open(t)) return {};  // a later pass knows
  made.v = {get(owner)};
  return made;
}

// {a, b}
Value Lower::set_literal(const Node& n) {
  return collect_set(n, [&](const std::function<void(const Value&)>& put) {
    for (const Node& e : n.all(Field::elts)) put_element(e, put);
  });
}

// {f(x) for x in …}
Value Lower::set_comprehension(const Node& n) {
  const Node& first = n.all(Field::generators)[0];
  Value over =
      some(first, maybe_none(*first.one(Field::iter)), "'NoneType' object is not iterable");
  if (over.unknown()) return {};
  Sequence all = items_of(first, over);
  return collect_set(n, [&](const std::function<void(const Value&)>& put) {
    comprehension_loops(n, all, [&] {
      Value v;
      if (!ends_within([&] { v = expression(*n.one(Field::elt)); })) put(v);
    });
  });
}

// set(), set(items)
Value Lower::set_from(const Node& n, const std::vector<Value>& args) {
  refuse_in_kernel(n, "sets");
  if (args.empty()) {
    Value r;
    r.type = set_type({});
    r.fresh = true;
    return r;
  }
  const Value& from = args[0];
  if (from.unknown()) return {};
  if (from.type.is_set()) return copy_dict(n, from);
  return collect_set(n, [&](const std::function<void(const Value&)>& put) {
    if (from.type.is(Type::Tag::Tuple) && from.type.text.empty()) {
      for (const Value& v : from.items) put(v);
      return;
    }
    over_all(items_of(n, from), put);
  });
}

// A set as one of a type that holds its items.
Value Lower::to_set(const Node& n, const Value& v, const Type& t) {
  if (!v.v.empty() && v.type == t) return v;
  Value r = new_dict(t);
  if (!v.v.empty() && !is_open(t) && !is_open(v.type))
    call_function({n, {r, v}, {}}, u_.program.library("set update"));
  return r;
}

Type Lower::joined_set(const Node& n, const Value& a, const Value& b) {
  Type both;
  if (!join(a.type, b.type, both))
    not_yet(n, "a " + name(a.type) + " and a " + name(b.type) + " together", "items of one type");
  return both;
}

// a | b, a & b, a - b, a ^ b
Value Lower::binary_sets(const Node& n, Op op, const Value& given_a, const Value& given_b) {
  const char* library = op == Op::bitwise_or    ? "set update"
                        : op == Op::bitwise_and ? "set keep"
                        : op == Op::subtract    ? "set drop"
                        : op == Op::bitwise_xor ? "set flip"
                                                : nullptr;
  if (!library || !given_a.type.is_set() || !given_b.type.is_set())
    fail(n,
         what_works(op) + " does not work on " + name(given_a.type) + " and " + name(given_b.type));
  const Type both = joined_set(n, given_a, given_b);
  if (is_open(both)) return {};
  Value r = new_dict(both);
  const Value a = to_set(n, given_a, both), b = to_set(n, given_b, both);
  call_function({n, {r, a}, {}}, u_.program.library("set update"));
  call_function({n, {r, b}, {}}, u_.program.library(library));
  return r;
}

// ==, <, <= and their like: equal sets, and parts of others.
Value Lower::compare_sets(const Node& n, NodeKind op, const Value& given_a, const Value& given_b) {
  const Type wide = joined_set(n, given_a, given_b);
  if (is_open(wide)) return {};
  Value a = to_set(n, given_a, wide), b = to_set(n, given_b, wide);
  if (op == NodeKind::Gt || op == NodeKind::GtE) std::swap(a, b);
  const bool equality = op == NodeKind::Eq || op == NodeKind::NotEq;
  Value part = call_function({n, {a, b}, {}}, u_.program.library("set within"));
  if (part.unknown()) return {};
  Val same_size = b_->emit(Op::equal, DType::Bool, dict_length(a), dict_length(b));
  if (equality) part = boolean(both(truth(n, part), same_size));
  if (op == NodeKind::NotEq) return negated(n, part);
  if (op == NodeKind::Lt || op == NodeKind::Gt)
    return boolean(both(truth(n, part), negate(same_size)));
  return part;
}

Value Lower::set_method(const Call& c, const Node& receiver, const Value& self,
                        const std::string& name) {
  const Node& n = c.n;
  if (!c.keywords.empty()) fail(n, "." + name + "() of a set takes no keywords");
  auto library = [&](const char* what, const Value& with) {
    return call_function({n, {self, with}, {}}, u_.program.library(what));
  };
  static const std::map<std::string, const char*> kChanges = {
      {"update", "set update"},
      {"intersection_update", "set keep"},
      {"difference_update", "set drop"},
      {"symmetric_difference_update", "set flip"}};
  static const std::map<std::string, Op> kMakes = {{"union", Op::bitwise_or},
                                                   {"intersection", Op::bitwise_and},
                                                   {"difference", Op::subtract},
                                                   {"symmetric_difference", Op::bitwise_xor}};
  static const std::map<std::string, NodeKind> kAsks = {{"issubset", NodeKind::LtE},
                                                        {"issuperset", NodeKind::GtE}};
  static const std::set<std::string> kReads = {"copy", "isdisjoint"};
  const bool reads = kReads.contains(name) || kMakes.contains(name) || kAsks.contains(name);
  if (!reads) expect_own_dict(n, receiver, self);
  if (self.v.empty()) not_yet(n, "an empty set here", "a name for it: s = set()");
  if (name == "add" || name == "discard" || name == "remove") {
    expect(c, name, 1, 1);
    const Value& item = c.args[0];
    if (name == "add" && widen_dict(n, receiver, self, boxed_type(item), {})) return none();
    if (is_open(self.type)) {
      learn_key(n, receiver, self, item);
      return none();
    }
    const Value key = as_key(n, self, item);
    Val entry = call_dict(n, name == "add" ? "place" : "find", self, key);
    if (name == "add" || entry == ir::kNone) return none();
    if (name == "remove") when(less(entry, ci(0)), [&] { raise_key_error(n, key); });
    when(negate(less(entry, ci(0))), [&] { dict_step(self, ir::DictStep::Drop, entry); });
    return none();
  }
  if (name == "pop") {
    expect(c, name, 0, 0);
    if (is_open(self.type)) return {};
    Val last = sub(dict_word(self, 0), ci(1));
    when(less(last, ci(0)), [&] { raise_at(site(n, "KeyError", "pop from an empty set")); });
    const Value item = key_of_entry(self, last);
    dict_step(self, ir::DictStep::Drop, last);
    return item;
  }
  if (name == "clear") {
    expect(c, name, 0, 0);
    if (!is_open(self.type)) dict_step(self, ir::DictStep::Clear);
    return none();
  }
  if (name == "copy") {
    expect(c, name, 0, 0);
    return copy_dict(n, self);
  }
  const bool known = kChanges.contains(name) || kMakes.contains(name) || kAsks.contains(name) ||
                     name == "isdisjoint";
  if (!known) fail(n, frontend::name(self.type) + " has no method '" + name + "'");
  if (c.args.size() != 1)
    not_yet(n, "." + name + "() of " + std::to_string(c.args.size()) + " arguments", "one by one");
  const Value other = c.args[0].type.is_set() ? c.args[0] : set_from(n, c.args);
  if (other.unknown()) return {};
  if (auto made = kMakes.find(name); made != kMakes.end())
    return binary_sets(n, made->second, self, other);
  if (auto asked = kAsks.find(name); asked != kAsks.end())
    return compare_sets(n, asked->second, self, other);
  if (name == "isdisjoint") {
    const Value common = binary_sets(n, Op::bitwise_and, self, other);
    return common.unknown() ? Value{} : boolean(negate(truth(n, common)));
  }
  if (name == "update" || name == "symmetric_difference_update")
    if (!other.type.items[0].unknown() && widen_dict(n, receiver, self, other.type.items[0], {}))
      return none();
  if (is_open(self.type) || (!other.v.empty() && is_open(other.type))) return none();
  library(kChanges.at(name), to_set(n, other, joined_set(n, self, other)));
  return none();
}

}  // namespace numbus::frontend
