// Comparisons: chains of them, `in`, `is`, and what is never equal or has no order.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::compare(const Node& n) { return chain(n, 0, maybe_none(*n.one(Field::left))); }

// a < b < c: what comes later is looked at only where all before hold.
Value Lower::chain(const Node& n, size_t at, const Value& left) {
  const auto &ops = n.all(Field::ops), &right = n.all(Field::comparators);
  Value b = maybe_none(right[at]);
  bool last = at + 1 == ops.size();
  if (left.unknown() || b.unknown()) {
    if (!last) chain(n, at + 1, b);
    return {};
  }
  Value one = compare_one(n, ops[at].kind, left, b);
  if (last || one.unknown()) return one;
  if (one.known && one.type.is_number()) return one.known->real() != 0 ? chain(n, at + 1, b) : one;
  if (one.type.is_array())
    fail(n, "chained comparison of arrays is ambiguous", "(a < b) & (b < c)");
  // Names and constants can be looked at in any case: no need for a branch.
  bool harmless = std::ranges::all_of(
      right.begin() + static_cast<int64_t>(at) + 1, right.end(), [](const Node& r) {
        return r.kind == NodeKind::Name || r.kind == NodeKind::Constant ||
               r.kind == NodeKind::Global;
      });
  if (!harmless)
    return joined(
        right[at + 1], "chain", [&] { return chain(n, at + 1, b); }, [&] { return one; },
        truth(n, one));
  Value rest = chain(n, at + 1, b);
  if (rest.unknown()) return {};
  if (rest.type.is_array())
    fail(n, "chained comparison of arrays is ambiguous", "(a < b) & (b < c)");
  Value all = boolean(both(truth(n, one), truth(n, rest)));
  all.type.weak = one.type.weak && rest.type.weak;
  return all;
}

// Whether an array, or a list of numbers, has an item that is no number.
Value Lower::contained(const Node& n, NodeKind op, const Value& a, const Value& b) {
  bool sequence = a.type.is(Type::Tag::Tuple) || a.type.is_array();
  if (is_plain_list(b)) {
    bool array = a.type.is_array() && !is_plain_list(a);
    if (array || !b.type.weak) not_yet(n, "'in' of " + name(a.type) + " and a list of numbers");
    return from_scalar(Scalar::from_bool(op == NodeKind::NotIn), DType::Bool, true);
  }
  if (!sequence) not_yet(n, "'in' of " + name(a.type) + " and an array");
  Value same = binary(n, Op::equal, b, a);  // as NumPy: any element that is equal where they meet
  if (same.type.is_array()) same = reduce(n, "any", same);
  if (same.unknown()) return {};
  return boolean(op == NodeKind::In ? truth(n, same) : negate(truth(n, same)));
}

// What two values are that are never equal, because they are of different classes; arrays and
// NumPy's numbers compare themselves with others item by item.
bool Lower::never_equal(const Node& n, const Value& a, const Value& b) {
  auto of = [](const Value& v) {
    if (v.type.is(Type::Tag::List) || is_plain_list(v) || v.type.listed) return Type::Tag::List;
    if (v.type.is_set()) return Type::Tag::Iterator;  // of a class of its own
    return v.type.is_text() ? Type::Tag::Text : v.type.tag;
  };
  auto takes_apart = [&](const Value& v) {
    return of(v) == Type::Tag::Array || (v.type.is_number() && !v.type.weak);
  };
  auto is = [&](Type::Tag t) { return of(a) == t || of(b) == t; };
  if (takes_apart(a) || takes_apart(b)) {
    bool odd = is(Type::Tag::Range) || (is(Type::Tag::None) && is(Type::Tag::Array));
    if (odd) not_yet(n, "comparing " + name(a.type) + " and " + name(b.type));
    return false;
  }
  if (is(Type::Tag::Range) && of(a) == of(b)) not_yet(n, "comparing ranges", "compare their ends");
  auto plain = [&](const Value& v) {
    static constexpr Type::Tag kPlain[] = {Type::Tag::Number, Type::Tag::Tuple,   Type::Tag::List,
                                           Type::Tag::Dict,   Type::Tag::Text,    Type::Tag::Range,
                                           Type::Tag::None,   Type::Tag::Iterator};
    return std::ranges::find(kPlain, of(v)) != std::end(kPlain);
  };
  return plain(a) && plain(b) && of(a) != of(b);
}

// `not` of a truth.
Value Lower::negated(const Node& n, const Value& v) {
  if (v.known) return from_scalar(Scalar::from_bool(v.known->real() == 0), DType::Bool, true);
  return boolean(negate(truth(n, v)));
}

// Lists, item by item.
Value Lower::compare_lists(const Node& n, NodeKind op, const Value& given_a, const Value& given_b) {
  Value a = boxed(n, given_a), b = boxed(n, given_b);
  if (a.unknown() || b.unknown()) return {};
  if (!a.type.is(Type::Tag::List) || !b.type.is(Type::Tag::List))
    not_yet(n, "comparing " + name(a.type) + " and " + name(b.type), "compare their items");
  if (is_open(a.type) || is_open(b.type)) return {};
  if (a.v.empty()) a = new_list(a.type.items[0], ci(0), ci(0));
  if (b.v.empty()) b = new_list(b.type.items[0], ci(0), ci(0));
  const bool same = op == NodeKind::Eq || op == NodeKind::NotEq;
  const bool or_equal = op == NodeKind::LtE || op == NodeKind::GtE;
  if (op == NodeKind::Gt || op == NodeKind::GtE) std::swap(a, b);
  auto complex = [](const Value& v) {
    return v.type.items[0].is_number() && is_complex(v.type.items[0].dtype);
  };
  if (!same && (complex(a) || complex(b))) {
    static const std::map<NodeKind, const char*> kSymbols = {
        {NodeKind::Lt, "<"}, {NodeKind::LtE, "<="}, {NodeKind::Gt, ">"}, {NodeKind::GtE, ">="}};
    return call_function(
        {n, {a, b, string_of(n, text(kSymbols.at(op))), known_integer(or_equal)}, {}},
        u_.program.library("list without order"));
  }
  const char* library = same ? "list equal" : or_equal ? "list less equal" : "list less";
  const Value r = call_function({n, {a, b}, {}}, u_.program.library(library));
  return op != NodeKind::NotEq || r.unknown() ? r : negated(n, r);
}

namespace {

// A number's class: NumPy's, or one of Python's by its name.
bool is_class(const Value& v) {
  static const std::set<std::string> kNames = {"int", "float", "complex", "bool", "str", "tuple"};
  return v.type.is(Type::Tag::Function) ? kNames.contains(v.type.text)
                                        : v.type.is(Type::Tag::DType) && v.type.items.empty();
}

}  // namespace

Value Lower::compare_one(const Node& n, NodeKind op, const Value& a, const Value& given_b) {
  Value b = given_b;
  if (b.type.text == "frozenset" && b.type.is(Type::Tag::Tuple)) {
    if (op != NodeKind::In && op != NodeKind::NotIn) not_yet(n, "comparing a frozenset", "x in s");
    b.type.text.clear();
  }
  auto known = [&](bool yes) { return from_scalar(Scalar::from_bool(yes), DType::Bool, true); };
  const bool equality =
      op == NodeKind::Is || op == NodeKind::IsNot || op == NodeKind::Eq || op == NodeKind::NotEq;
  const bool of_none = b.type.is(Type::Tag::None) ||
                       (a.type.is(Type::Tag::None) && op != NodeKind::In && op != NodeKind::NotIn);
  if (changed_ && of_none && !equality) return {};  // a later pass may know a value
  if (a.type.is_maybe() || b.type.is_maybe())
    if (auto same = compare_none(n, op, a, b)) return *same;
  const bool objects =
      (a.type.is(Type::Tag::Object) && (op != NodeKind::In && op != NodeKind::NotIn)) ||
      b.type.is(Type::Tag::Object);
  if (objects && !of_none) {
    if (a.unknown() || b.unknown()) return {};
    return compare_object(n, op, a, b);
  }
  if (equality && is_class(a) && is_class(b)) {
    // An array's dtype is told from a class only where that comes of type().
    auto found = [](const Value& v) {
      return !v.type.is(Type::Tag::DType) || v.type.text == "class";
    };
    const bool is = op == NodeKind::Is || op == NodeKind::IsNot;
    if (is ? found(a) && found(b) : a.type.tag == b.type.tag || (found(a) && found(b)))
      return known((a.type.tag == b.type.tag &&
                    (a.type.is(Type::Tag::DType) ? a.type.dtype == b.type.dtype
                                                 : a.type.text == b.type.text)) ==
                   (op == NodeKind::Is || op == NodeKind::Eq));
    if (is) not_yet(n, "'is' between types", "==");
  }
  if (op == NodeKind::Is || op == NodeKind::IsNot) {
    bool none_a = a.type.is(Type::Tag::None), none_b = b.type.is(Type::Tag::None);
    if (none_a || none_b) return known((none_a && none_b) == (op == NodeKind::Is));
    if (a.type.is_number() && b.type.is_number()) {
      Value e = binary(n, Op::equal, a, b);
      return op == NodeKind::Is ? e : boolean(negate(e.v[0]));
    }
    not_yet(n, "'is' between " + name(a.type) + " and " + name(b.type));
  }
  if (op == NodeKind::In || op == NodeKind::NotIn) {
    const bool keys = is_dict_view(b) && b.type.text == "dict keys";
    if (is_dict_view(b) && b.type.text == "dict values") {
      Value found = in_values(n, b, a);
      return op == NodeKind::In || found.unknown() ? found : negated(n, found);
    }
    if (is_dict_view(b) && !keys) {
      Value found = in_items(n, b, a);
      return op == NodeKind::In || found.unknown() ? found : negated(n, found);
    }
    if (b.type.is(Type::Tag::Dict) || keys) {
      Value found = in_dict(n, keys ? b.items[0] : b, a);
      return op == NodeKind::In || found.unknown() ? found : boolean(negate(truth(n, found)));
    }
  }
  if (a.type.is_set() && b.type.is_set()) return compare_sets(n, op, a, b);
  if (a.type.is(Type::Tag::Dict) && b.type.is(Type::Tag::Dict) &&
      a.type.is_set() == b.type.is_set()) {
    if (op != NodeKind::Eq && op != NodeKind::NotEq)
      fail(n, name(a.type) + " and " + name(b.type) + " have no order");
    Value same = equal_dicts(n, a, b);
    return op == NodeKind::Eq || same.unknown() ? same : boolean(negate(truth(n, same)));
  }
  if ((op == NodeKind::Eq || op == NodeKind::NotEq) && never_equal(n, a, b))
    return known(op == NodeKind::NotEq);
  // To a number of NumPy's, a list or tuple is an array.
  auto sequence = [](const Value& v) {
    return v.type.is(Type::Tag::Tuple) || v.type.is(Type::Tag::List) || is_plain_list(v);
  };
  auto python_number = [](const Value& v) { return v.type.is_number() && v.type.weak; };
  const bool contains = op == NodeKind::In || op == NodeKind::NotIn;
  if (!contains && ((sequence(a) && python_number(b)) || (python_number(a) && sequence(b))))
    fail(n, name(a.type) + " and " + name(b.type) + " have no order");
  auto list_of_others = [](const Value& v) {
    return v.type.is(Type::Tag::List) && !v.type.items[0].is_number();
  };
  if (op != NodeKind::In && op != NodeKind::NotIn && (list_of_others(a) || list_of_others(b))) {
    bool lists = (a.type.is(Type::Tag::List) || is_plain_list(a) || a.type.listed) &&
                 (b.type.is(Type::Tag::List) || is_plain_list(b) || b.type.listed);
    if (lists) return compare_lists(n, op, a, b);
    if (a.type.is_array() || b.type.is_array())
      not_yet(n, "comparing " + name(a.type) + " and " + name(b.type), "compare their items");
    if (op == NodeKind::Eq || op == NodeKind::NotEq) return known(op == NodeKind::NotEq);
    fail(n, name(a.type) + " and " + name(b.type) + " have no order");
  }
  if (list_of_others(b)) {
    const Type& item = b.type.items[0];
    if (item.unknown() || b.v.empty())
      return item.unknown() ? Value{} : known(op == NodeKind::NotIn);
    Type both;
    if (!item.is(Type::Tag::String) && !item.is(Type::Tag::Tuple) && !item.is(Type::Tag::List))
      not_yet(n, "'in' " + name(b.type), "a loop over its items");
    if (!join(item, held_type(a.type), both)) return known(op == NodeKind::NotIn);
    Value found = call_function({n, {b, held(n, a)}, {}}, u_.program.library("list contains"));
    return op == NodeKind::In || found.unknown() ? found : negated(n, found);
  }
  if (a.type.is(Type::Tag::List) || b.type.is(Type::Tag::List))
    return a.type.is_array() != b.type.is_array() && op != NodeKind::In && op != NodeKind::NotIn
               ? compare_one(n, op, copied(n, a), copied(n, b))
               : compare_one(n, op, plain(a), plain(b));
  if (is_plain_list(a) && is_plain_list(b) && op != NodeKind::In && op != NodeKind::NotIn) {
    if (op != NodeKind::Eq && op != NodeKind::NotEq) return compare_lists(n, op, a, b);
    Value e = call_function({n, {a, b}, {}}, u_.program.library("np.array_equal"));
    return op == NodeKind::Eq || e.unknown() ? e : boolean(negate(e.v[0]));
  }
  if (op == NodeKind::In || op == NodeKind::NotIn) {
    if (b.type.is_text() && a.type.is_text()) {
      Value found = contained_text(n, a, b);
      return op == NodeKind::In || found.unknown() ? found : negated(n, found);
    }
    Val found = b_->constant(DType::Bool, Scalar::from_bool(false));
    if (b.type.is_text()) fail(n, "'in' a string needs a string on the left; got " + name(a.type));
    if (b.type.is(Type::Tag::Tuple)) {
      bool all_known = true, any = false;
      for (const Value& i : b.items) {
        if (a.type.is_number() && !a.type.weak && i.type.is(Type::Tag::Tuple))
          not_yet(n,
                  "a number of NumPy's 'in' tuples, each of which it is compared with as an array");
        Value same = compare_one(n, NodeKind::Eq, a, i);
        all_known = all_known && same.known && same.type.is_number();
        any = any || (same.known && same.known->real() != 0);
        found = b_->emit(Op::logical_or, DType::Bool, found, truth(n, same));
      }
      if (all_known) return known(any == (op == NodeKind::In));
    } else if (b.type.is_array() && !a.type.is_number()) {
      return contained(n, op, a, b);
    } else if (b.type.is_array()) {
      Val s = new_variable(DType::Bool);
      set(s, found);
      each(b.shape(), [&](std::span<const Val> at) {
        Value e = binary(n, Op::equal, a, element(b, at));
        set(s, b_->emit(Op::logical_or, DType::Bool, get(s), e.v[0]));
      });
      found = get(s);
    } else if (b.type.is(Type::Tag::Range) && a.type.is_integer()) {
      // Between the ends, at a multiple of the step.
      Val x = as(a, DType::I64), last = add(b.v[0], mul(sub(length_of_range(b), ci(1)), b.v[2]));
      Val low = b_->emit(Op::minimum, DType::I64, b.v[0], last),
          high = b_->emit(Op::maximum, DType::I64, b.v[0], last);
      Val rest = b_->emit(Op::remainder, DType::I64, sub(x, b.v[0]), b.v[2]);
      found = both(
          both(negate(less(x, low)), negate(less(high, x))),
          both(b_->emit(Op::equal, DType::Bool, rest, ci(0)), less(ci(0), length_of_range(b))));
    } else {
      not_yet(n, "'in' " + name(b.type));
    }
    return boolean(op == NodeKind::In ? found : negate(found));
  }
  if (a.type.is_text() || b.type.is_text())
    if (auto same = compare_text(n, op, a, b)) return *same;
  static const std::unordered_map<int, Op> kRowsOf = {
      {int(NodeKind::Eq), Op::equal},   {int(NodeKind::NotEq), Op::not_equal},
      {int(NodeKind::Lt), Op::less},    {int(NodeKind::LtE), Op::less_equal},
      {int(NodeKind::Gt), Op::greater}, {int(NodeKind::GtE), Op::greater_equal}};
  Op r = kRowsOf.at(int(op));
  if (a.type.is(Type::Tag::Tuple) && b.type.is(Type::Tag::Tuple) &&
      a.type.listed != b.type.listed) {
    if (op == NodeKind::Eq || op == NodeKind::NotEq) return known(op == NodeKind::NotEq);
    fail(n, name(a.type) + " and " + name(b.type) + " have no order");
  }
  if (a.type.is(Type::Tag::Tuple) && b.type.is(Type::Tag::Tuple)) {
    if (op != NodeKind::Eq && op != NodeKind::NotEq) {
      // The first items that differ decide; none: the shorter one is less.
      size_t shorter = std::min(a.items.size(), b.items.size());
      bool less_than = op == NodeKind::Lt || op == NodeKind::LtE;
      bool rest = a.items.size() == b.items.size() ? op == NodeKind::LtE || op == NodeKind::GtE
                                                   : (a.items.size() < b.items.size()) == less_than;
      Val r = b_->constant(DType::Bool, Scalar::from_bool(rest));
      for (size_t i = shorter; i-- > 0;) {
        NodeKind strict = less_than ? NodeKind::Lt : NodeKind::Gt;
        Val first = truth(n, compare_one(n, strict, a.items[i], b.items[i]));
        Val same = truth(n, compare_one(n, NodeKind::Eq, a.items[i], b.items[i]));
        r = b_->emit(Op::logical_or, DType::Bool, first, both(same, r));
      }
      return boolean(r);
    }
    if (a.items.size() != b.items.size()) return known(op == NodeKind::NotEq);
    Val equal = b_->constant(DType::Bool, Scalar::from_bool(true));
    for (size_t i = 0; i < a.items.size(); ++i)
      equal = both(equal, truth(n, compare_one(n, NodeKind::Eq, a.items[i], b.items[i])));
    return boolean(op == NodeKind::Eq ? equal : negate(equal));
  }
  if (a.type.is(Type::Tag::DType) && b.type.is(Type::Tag::DType))
    return known((a.type.dtype == b.type.dtype) == (op == NodeKind::Eq));
  // Python's complex numbers have none; NumPy's are compared part by part.
  const bool pythons = python_number(a) && python_number(b);
  const bool complex = pythons && (is_complex(a.type.dtype) || is_complex(b.type.dtype));
  if (complex && op != NodeKind::Eq && op != NodeKind::NotEq)
    fail(n, name(a.type) + " and " + name(b.type) + " have no order", "abs(z), z.real");
  if ((a.type.is(Type::Tag::None) || b.type.is(Type::Tag::None)) && op != NodeKind::Eq &&
      op != NodeKind::NotEq)
    fail(n, name(a.type) + " and " + name(b.type) + " have no order");
  if (a.type.is(Type::Tag::None) || b.type.is(Type::Tag::None))
    return known((a.type.tag == b.type.tag) == (op == NodeKind::Eq));
  return binary(n, r, a, b);
}

}  // namespace numbus::frontend
