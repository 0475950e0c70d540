// None-or-value: what holds None on one path and a value on another, tests of it, and what is known
// after them.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::none() {
  Value r;
  r.type = Type::of(Type::Tag::None);
  return r;
}

// Of a name that has been compared with None, the value.
Value Lower::narrowed(const std::string& name, const Value& v) const {
  if (!v.type.is_maybe()) return v;
  for (const Scope* s = scope_; s; s = s->outer) {
    if (s->present.contains(name)) return v.items[0];
    if (s->variables.contains(name)) break;
  }
  return v;
}

// A value, None, or either of them as a type that holds both.
Value Lower::to_maybe(const Node& at, const Value& v, const Type& t) {
  if (v.unknown()) return v;
  const Type& of = t.items[0];
  Value r;
  r.type = t;
  auto flag = [&](bool there) { return b_->constant(DType::Bool, Scalar::from_bool(there)); };
  if (v.type.is(Type::Tag::None) || (v.type.is_maybe() && v.type.items[0].unknown())) {
    std::vector<Val> zeros;
    for (DType w : words(of)) zeros.push_back(b_->constant(w, Scalar::from_int(0)));
    size_t next = 0;
    r.v = {flag(false)};
    r.items = {unflatten(of, zeros, next)};
    return r;
  }
  const Value& value = v.type.is_maybe() ? v.items[0] : v;
  // The memory of what is not there cannot be read, to make another list of it.
  if (v.type.is_maybe() && value.type != of && (holds_lists(value.type) || holds_lists(of)))
    not_yet(at, "a " + name(v.type) + " as a " + name(t), "values of one type from the start");
  r.v = {v.type.is_maybe() ? v.v[0] : flag(true)};
  r.items = {convert_to(at, value, of)};
  if (r.items[0].unknown()) return {};
  r.items[0].known.reset();
  return r;
}

// What has a value; where it has none, the error is raised that None raises in CPython. A name that
// is None in this pass may hold a value in a later one.
Value Lower::some(const Node& n, const Value& v, const std::string& message,
                  const char* exception) {
  if (v.type.is(Type::Tag::None) && changed_) return {};
  if (!v.type.is_maybe()) return v;
  when(negate(v.v[0]), [&] { raise_at(site(n, exception, message)); });
  return v.items[0];
}

Value Lower::some_with_attributes(const Node& n, const Value& v, const std::string& attribute) {
  return some(n, v, "'NoneType' object has no attribute '" + attribute + "'", "AttributeError");
}

void Lower::refuse_none(const Node& n, const Value& v, const std::string& what) {
  if (v.type.is_maybe())
    not_yet(n, "a value that may be None " + what + ": " + name(v.type),
            "if x is not None: … before");
}

// Whether an argument is a name that is None in this pass, to which other statements assign as
// well: what is called would be compiled for None alone, which it may not take.
bool Lower::may_hold_later(const Node& call, const Call& c) {
  const std::function<bool(const Node&, const Value&)> later = [&](const Node& a, const Value& v) {
    if (a.kind == NodeKind::Tuple && a.all(Field::elts).size() == v.items.size()) {
      for (size_t k = 0; k < v.items.size(); ++k)
        if (later(a.all(Field::elts)[k], v.items[k])) return true;
      return false;
    }
    if (a.kind != NodeKind::Name || !v.type.is(Type::Tag::None)) return false;
    const Node& own = *source_.definition.one(Field::args);
    const bool parameter =
        std::ranges::any_of(own.all(Field::args), [&](const Node& p) { return p.text == a.text; });
    return times_given(a.text) > (parameter ? 0 : 1);
  };
  const auto &args = call.all(Field::args), &keywords = call.all(Field::keywords);
  if (args.size() != c.args.size() || keywords.size() != c.keywords.size()) return false;
  for (size_t k = 0; k < args.size(); ++k)
    if (later(args[k], c.args[k])) return true;
  for (size_t k = 0; k < keywords.size(); ++k)
    if (later(*keywords[k].one(Field::value), c.keywords[k].second)) return true;
  return false;
}

// What is said of the value, and false where there is none.
Val Lower::if_there(const Value& v, const std::function<Val(const Value&)>& said) {
  Val r = new_variable(DType::Bool);
  set(r, b_->constant(DType::Bool, Scalar::from_bool(false)));
  when(v.v[0], [&] { set(r, said(v.items[0])); });
  return get(r);
}

// A comparison of which one side may be None. Nothing: the values are to be compared.
std::optional<Value> Lower::compare_none(const Node& n, NodeKind op, const Value& a,
                                         const Value& b) {
  const bool same = op == NodeKind::Is || op == NodeKind::Eq;
  // NumPy's numbers give NumPy's bool, and so do they where there is none, which has one type.
  bool weak = true;
  auto answer = [&](Val equal) { return number(same ? equal : negate(equal), DType::Bool, weak); };
  if (same || op == NodeKind::IsNot || op == NodeKind::NotEq) {
    const Value &maybe = a.type.is_maybe() ? a : b, &other = a.type.is_maybe() ? b : a;
    if (other.type.is(Type::Tag::None)) {
      if (maybe.type.items[0].is_array() && (op == NodeKind::Eq || op == NodeKind::NotEq))
        not_yet(n, "comparing an array with None by ==", "x is None");
      return answer(negate(maybe.v[0]));
    }
    if (op == NodeKind::Is || op == NodeKind::IsNot)
      not_yet(n, "'is' between " + name(a.type) + " and " + name(b.type), "==");
    for (const Value* v : {&maybe, &other})
      if (v->type.is_array() || (v->type.is_maybe() && v->type.items[0].is_array()))
        not_yet(n, "comparing " + name(a.type) + " and " + name(b.type), "x is None");
    bool unknown = false;
    auto equal = [&](const Value& x, const Value& y) {
      const Value e = compare_one(n, NodeKind::Eq, x, y);
      unknown = unknown || e.unknown();
      if (e.type.is_number()) weak = weak && e.type.weak;
      return truth(n, e);
    };
    Val r = if_there(maybe, [&](const Value& x) {
      if (!other.type.is_maybe()) return equal(x, other);
      return if_there(other, [&](const Value& y) { return equal(x, y); });
    });
    if (unknown) return Value{};
    if (other.type.is_maybe())
      r = b_->emit(Op::logical_or, DType::Bool, r, both(negate(maybe.v[0]), negate(other.v[0])));
    return answer(r);
  }
  if (op == NodeKind::In || op == NodeKind::NotIn) {
    if (b.type.is_maybe())
      return compare_one(n, op, a, some(n, b, "argument of type 'NoneType' is not iterable"));
    if (b.type.is(Type::Tag::Tuple)) return {};
    if (b.type.is_text())
      return compare_one(
          n, op, some(n, a, "'in <string>' requires string as left operand, not NoneType"), b);
    refuse_none(n, a, "to the left of 'in'");
  }
  const char* symbol = op == NodeKind::Lt    ? "<"
                       : op == NodeKind::LtE ? "<="
                       : op == NodeKind::Gt  ? ">"
                                             : ">=";
  auto shown = [](const Value& v) {
    return v.type.is_maybe() ? "'NoneType'" : "'" + name(v.type) + "'";
  };
  const std::string message = "'" + std::string(symbol) + "' not supported between instances of " +
                              shown(a) + " and " + shown(b);
  const Value x = some(n, a, message);
  return compare_one(n, op, x, some(n, b, message));
}

namespace {

bool is_none(const Node& n) { return n.literal.tag == Literal::Tag::None; }

}  // namespace

// Notes what holds of names where a test was true, or where it was false.
void Lower::narrow(const Node& test, bool holds) {
  switch (test.kind) {
    case NodeKind::Name:
      if (holds) scope_->present.insert(test.text);
      break;
    case NodeKind::NamedExpr: narrow(*test.one(Field::target), holds); break;
    case NodeKind::UnaryOp:
      if (test.one(Field::op)->kind == NodeKind::Not) narrow(*test.one(Field::operand), !holds);
      break;
    case NodeKind::BoolOp:
      if (holds == (test.one(Field::op)->kind == NodeKind::And))
        for (const Node& v : test.all(Field::values)) narrow(v, holds);
      break;
    case NodeKind::Compare: {
      const auto& ops = test.all(Field::ops);
      const Node *left = test.one(Field::left), *right = test.one(Field::comparators);
      if (ops.size() != 1 || is_none(*left) == is_none(*right)) break;
      const bool same = ops[0].kind == NodeKind::Is || ops[0].kind == NodeKind::Eq;
      const bool differs = ops[0].kind == NodeKind::IsNot || ops[0].kind == NodeKind::NotEq;
      if (!same && !differs) break;
      const Node* of = is_none(*left) ? right : left;
      if (of->kind == NodeKind::NamedExpr) of = of->one(Field::target);
      if (of->kind == NodeKind::Name && differs == holds) scope_->present.insert(of->text);
      break;
    }
    default: break;
  }
}

// A name that a loop or an expression gives something else is not known to hold a value.
void Lower::forget_renewed(const Node& of) {
  const std::vector<Node> all{of};
  std::erase_if(scope_->present, [&](const std::string& text) {
    Node name;
    name.kind = NodeKind::Name;
    name.text = text;
    return renews(all, name);
  });
}

// The arguments of a function that takes no None, as values.
void Lower::expect_values(Call& c, const std::string& name) {
  static const std::set<std::string> kOfValues = {
      "len",    "abs", "min",    "max",  "int", "float",    "complex",   "range",
      "prange", "sum", "any",    "all",  "zip", "list",     "enumerate", "tuple",
      "ord",    "chr", "divmod", "dict", "map", "reversed", "filter"};
  auto is = [](const Value& v) { return v.type.is_maybe() || v.type.is(Type::Tag::None); };
  if (name == "print" || name == "str" || name == "repr") return;
  const bool takes_none =
      !kOfValues.contains(name) && !name.starts_with("math.") && !name.starts_with("cmath.");
  for (Value& a : c.args)
    if (is(a) && !takes_none)
      a = some(c.n, a, name + "() takes no None");
    else
      refuse_none(c.n, a, "as an argument of " + name + "()");
  for (const auto& [k, a] : c.keywords) refuse_none(c.n, a, "as an argument of " + name + "()");
}

}  // namespace numbus::frontend
