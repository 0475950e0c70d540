// Python's builtins.
#include <algorithm>
#include <map>
#include <set>

#include "frontend/lower.h"

namespace numbus::frontend {

// Floats of NumPy's to a number of digits that is known at run time.
Value Lower::round_at_run_time(const Node& n, const Value& x, const Value& digits) {
  const bool floats = (x.type.is_array() || x.type.is_number()) && is_inexact(x.type.dtype);
  if (!floats || (x.type.is_number() && x.type.weak) || !digits.type.is_integer())
    asks_for(digits), not_yet(n, "round() to a number of digits known only at run time");
  // By 10 to that power, or its inverse; the other of both factors is 1.
  Value scale = call_function({n, {digits}, {}}, u_.program.library("power of ten"));
  if (scale.unknown()) return {};
  Val one = b_->constant(DType::F64, Scalar::from_float(1)), by = as(scale, DType::F64),
      down = less(as(digits, DType::I64), ci(0));
  Value times = number(b_->emit(Op::select, DType::F64, down, one, by), DType::F64, true);
  Value over = number(b_->emit(Op::select, DType::F64, down, by, one), DType::F64, true);
  Value whole = unary(n, Op::rint, binary(n, Op::divide, binary(n, Op::multiply, x, times), over));
  return binary(n, Op::multiply, binary(n, Op::divide, whole, times), over);
}

Value Lower::call_builtin(const Call& given, const std::string& name) {
  const Node& n = given.n;
  Call c{n, given.args, given.keywords};
  static const std::set<std::string> kOfKeys = {"sum", "min",    "max",  "any",
                                                "all", "sorted", "list", "tuple"};
  if (kOfKeys.contains(name))
    for (Value& a : c.args)
      if (a.type.is(Type::Tag::Dict) && c.args.size() == 1) a = dict_view("keys", Value(a));
  auto arg = [&](size_t i) -> const Value& { return c.args[i]; };
  static const std::map<std::string, std::string> kKeywords = {
      {"enumerate", " start "}, {"sorted", " key reverse "}, {"min", " key "},
      {"max", " key "},         {"sum", " start "},          {"round", " ndigits decimals "}};
  for (const auto& [k, v] : c.keywords) {
    auto it = kKeywords.find(name);
    bool takes = it != kKeywords.end() && it->second.find(" " + k + " ") != std::string::npos;
    if (!takes && name != "print") not_yet(n, name + "() with " + k + "=");
  }
  if (name == "set") {
    expect(c, name, 0, 1);
    return set_from(n, c.args);
  }
  if (auto of_text = call_text_builtin(c, name)) return *of_text;
  if (name == "range" || name == "prange") {
    expect(c, name, 1, 3);
    Value r;
    r.type = Type::of(Type::Tag::Range);
    r.type.text = name;
    Val start = ci(0), step = ci(1);
    if (c.args.size() > 1) start = index_value(n, arg(0));
    Val stop = index_value(n, arg(c.args.size() > 1 ? 1 : 0));
    if (c.args.size() > 2) step = index_value(n, arg(2));
    const auto by = constant_of(step);
    if (by == 0) fail(n, "range() with a step of zero");
    if (!by)
      when(b_->emit(Op::equal, DType::Bool, step, ci(0)),
           [&] { raise_at(site(n, "ValueError", "range() arg 3 must not be zero")); });
    r.v = {start, stop, step};
    return r;
  }
  if (name == "len") {
    expect(c, name, 1, 1);
    const Value& a = arg(0);
    if (is_records(a) && a.type.text == "records") return integer(shape_of_records(a)[0]);
    if (a.type.is(Type::Tag::Tuple)) return known_integer(static_cast<int64_t>(a.items.size()));
    if (a.type.is_array() && a.type.ndim) return integer(a.shape()[0]);
    if (a.type.is(Type::Tag::List)) return integer(list_length(a));
    if (a.type.is(Type::Tag::Dict)) return integer(dict_length(a));
    if (is_dict_view(a)) return integer(dict_length(a.items[0]));
    if (a.type.is(Type::Tag::Range)) return integer(length_of_range(a));
    if (a.type.is(Type::Tag::Text)) return known_integer(length_of_text(a));
    if (a.type.is(Type::Tag::String)) return integer(string_length(a));
    fail(n, "len() of " + frontend::name(a.type));
  }
  if (name == "abs") {
    expect(c, name, 1, 1);
    if (is_plain_list(plain(arg(0)))) fail(n, "abs() of a list", "np.abs");
    if (auto k = known_int(arg(0)); k && arg(0).type.weak && arg(0).type.dtype == DType::I64)
      return known_integer(std::abs(*k));
    return unary(n, Op::absolute, arg(0));
  }
  // Python's complex numbers have no order, where more than one of them is compared.
  auto has_order = [&](const Type& t) {
    return !(t.weak && is_complex(t.dtype) && (t.is_number() || t.is_array()));
  };
  if (name == "min" || name == "max") {
    if (c.args.empty()) fail(n, name + "() needs values");
    if (const Value* key = c.keyword("key")) {
      Value over = arg(0);
      if (c.args.size() > 1) over = list_or_tuple(n, c.args);
      if (over.type.is(Type::Tag::Tuple)) over = list_or_tuple(n, over.items);
      if (over.type.is(Type::Tag::Iterator) || over.type.is_text()) over = list_from(n, over);
      if (over.type.listed) over = boxed(n, over);
      if (over.unknown()) return {};
      return call_function({n, {over, *key}, {}}, u_.program.library(name + " by"));
    }
    std::vector<Value> items = c.args;
    if (c.args.size() == 1) {
      Value over = arg(0).type.is(Type::Tag::Iterator) ? plain(list_from(n, arg(0)))
                   : arg(0).type.is(Type::Tag::Range)  ? array_of_range(arg(0))
                                                       : arg(0);
      if (over.unknown()) return {};
      if (over.type.is_array()) {
        if (over.type.ndim != 1)
          not_yet(n, name + "() of " + frontend::name(over.type), "np." + name);
        if (!has_order(over.type))
          fail(n, name + "() of complex numbers, which have no order", name + "(z, key=abs)");
        Value r = is_inexact(over.type.dtype)
                      ? call_function({n, {over}, {}}, u_.program.library(name + " of"))
                      : reduce(n, name, over);
        if (r.unknown()) return {};
        r.type.weak = over.type.weak;
        return r;
      }
      const bool others =
          std::ranges::any_of(over.items, [](const Value& v) { return !v.type.is_number(); });
      if (over.type.is_text() || (over.type.listed && others)) over = list_from(n, over);
      if (over.unknown()) return {};
      if (over.type.is(Type::Tag::List)) {
        if (is_open(over.type)) return {};
        return call_function({n, {over}, {}}, u_.program.library(name + " of"));
      }
      if (!arg(0).type.is(Type::Tag::Tuple)) fail(n, name + "() of " + frontend::name(arg(0).type));
      items = arg(0).items;
      if (items.empty()) {
        when(b_->constant(DType::Bool, Scalar::from_bool(true)),
             [&] { raise_at(site(n, "ValueError", name + "() arg is an empty sequence")); });
        return known_integer(0);
      }
    }
    if (std::ranges::any_of(items, [](const Value& v) {
          return v.type.is_text() || v.type.is(Type::Tag::Tuple) || v.type.is(Type::Tag::List);
        })) {
      Value tuple;
      tuple.items = items;
      for (const Value& v : items) tuple.type.items.push_back(v.type);
      tuple.type = Type::tuple_of(std::move(tuple.type.items));
      const Value all = list_from(n, tuple);
      if (all.unknown() || is_open(all.type)) return {};
      if (!all.type.items[0].is_number())
        return call_function({n, {all}, {}}, u_.program.library(name + " of"));
    }
    // Python keeps the first unless a later one is strictly better.
    Value best = items[0];
    for (size_t i = 1; i < items.size(); ++i) {
      if (!has_order(best.type) || !has_order(items[i].type))
        fail(n, name + "() of complex numbers, which have no order", name + "(z, key=abs)");
      Value better = binary(n, name == "min" ? Op::less : Op::greater, items[i], best);
      if (better.unknown()) return {};
      if (better.type.is_array()) fail(n, name + "() of arrays", "np.minimum or np.maximum");
      if (better.known &&
          of_any_value(items[i].type) == of_any_value(best.type)) {  // which stays known
        if (better.known->real() != 0) best = items[i];
        continue;
      }
      best = choose(n, better.v[0], items[i], best);
    }
    return best;
  }
  if (name == "int" || name == "float" || name == "complex" || name == "bool") {
    if (c.args.empty())
      return from_scalar(Scalar::from_int(0),
                         name == "int"       ? DType::I64
                         : name == "bool"    ? DType::Bool
                         : name == "complex" ? DType::C128
                                             : DType::F64,
                         true);
    Value v = arg(0);
    if (v.type.is_array() && v.type.ndim == 0) v = element(v, {});
    if (v.type.is(Type::Tag::Text) && name == "bool")
      return from_scalar(Scalar::from_bool(!v.type.text.empty()), DType::Bool, true);
    if (v.type.is_text() && name == "complex") not_yet(n, "complex() of a string");
    if (name == "bool") return boolean(truth(n, v));
    if (!v.unknown() && !v.type.is_number())
      fail(n, name + "() of " + frontend::name(v.type), "one element of it");
    if (name == "complex") {
      if (c.args.size() == 2) {
        const Value& w = arg(1);
        // The second number times i, where either may be complex itself.
        auto part = [&](const Value& of, Op op) {
          if (is_complex(of.type.dtype))
            return b_->emit(op, DType::F64, as(cast(n, of, DType::C128), DType::C128));
          return as(cast(n, of, DType::F64), DType::F64);
        };
        Val re = part(v, Op::real_part), im = part(w, Op::real_part);
        if (is_complex(w.type.dtype) &&
            w.type.dtype != DType::C64)  // of which CPython takes no more
          re = b_->emit(Op::subtract, DType::F64, re, part(w, Op::imag_part));
        if (is_complex(v.type.dtype))
          im = b_->emit(Op::add, DType::F64, im, part(v, Op::imag_part));
        return number(b_->emit(Op::make_complex, DType::C128, re, im), DType::C128, true);
      }
      return cast(n, v, DType::C128, true);
    }
    return name == "int" ? python_int(n, v) : cast(n, v, DType::F64, true);
  }
  if (name == "round" && !c.keywords.empty()) {
    Call positional{n, c.args, {}};
    for (const auto& [k, v] : c.keywords) positional.args.push_back(v);
    return call_builtin(positional, name);
  }
  if (name == "round") {
    expect(c, name, 1, 2);
    if (c.args.size() == 2) {
      auto digits = known_int(arg(1));
      if (!digits) return round_at_run_time(n, arg(0), arg(1));
      bool integers = arg(0).type.is_array() && numbus::is_integer(arg(0).type.dtype) &&
                      arg(0).type.dtype != DType::Bool;
      if (*digits && arg(0).type.is_array() && arg(0).type.dtype == DType::Bool)
        fail(n, "np.round of bools to a number of digits, which NumPy does not cast back");
      if (integers && *digits >= 0) return cast(n, arg(0), arg(0).type.dtype);
      if (arg(0).type.is_integer() && *digits >= 0)
        return arg(0).type.weak ? cast(n, arg(0), DType::I64, true) : arg(0);
      if (arg(0).type.is_integer() && arg(0).type.weak) {
        // To the nearest multiple; of two as near, the even one.
        int64_t unit = 1;
        for (int64_t k = 0; k < std::min<int64_t>(-*digits, 18); ++k) unit *= 10;
        Val x = as(arg(0), DType::I64), by = ci(unit);
        Val q = b_->emit(Op::floor_divide, DType::I64, x, by);
        Val twice = mul(sub(x, mul(q, by)), ci(2));
        Val odd = b_->emit(Op::bitwise_and, DType::I64, q, ci(1));
        Val half = b_->emit(Op::equal, DType::Bool, twice, by);
        Val tie_up = both(half, b_->emit(Op::equal, DType::Bool, odd, ci(1)));
        Val up = b_->emit(Op::logical_or, DType::Bool, less(by, twice), tie_up);
        return integer(mul(add(q, b_->cast(up, DType::I64)), by));
      }
      double scale = 1;
      for (int64_t k = 0; k < std::abs(*digits); ++k) scale *= 10;
      // A float of Python's that has no such digit, as large as it is, stays as it is.
      auto unless_large = [&](const Value& scaled, const Value& rounded) {
        Val most = b_->constant(DType::F64, Scalar::from_float(9007199254740992.0));
        Val size = b_->emit(Op::absolute, DType::F64, as(scaled, DType::F64));
        return number(b_->emit(Op::select, DType::F64, b_->emit(Op::less, DType::Bool, size, most),
                               as(rounded, DType::F64), as(arg(0), DType::F64)),
                      DType::F64, true);
      };
      Value s = from_scalar(Scalar::from_float(scale), DType::F64, true);
      Value up = binary(n, *digits < 0 ? Op::divide : Op::multiply, arg(0), s);
      if (arg(0).type.is_number() && arg(0).type.weak && is_float(arg(0).type.dtype) &&
          *digits > 0) {
        // Python rounds the exact value: where the product looks like a tie, what it lost decides.
        Val x = as(arg(0), DType::F64), y = up.v[0],
            half = b_->constant(DType::F64, Scalar::from_float(0.5));
        auto f64 = [&](Op op, Val a, Val b = ir::kNone) { return b_->emit(op, DType::F64, a, b); };
        Val lost = b_->emit(Op::fma, DType::F64, x, as(s, DType::F64), f64(Op::negative, y));
        Val low = f64(Op::floor, y), zero = b_->constant(DType::F64, Scalar::from_float(0));
        Val tie = b_->emit(Op::equal, DType::Bool, f64(Op::subtract, y, low), half);
        Val above = f64(Op::add, low, b_->constant(DType::F64, Scalar::from_float(1)));
        Val whole = f64(Op::rint, y);
        whole = b_->emit(Op::select, DType::F64,
                         both(tie, b_->emit(Op::less, DType::Bool, lost, zero)), low, whole);
        whole = b_->emit(Op::select, DType::F64,
                         both(tie, b_->emit(Op::less, DType::Bool, zero, lost)), above, whole);
        return unless_large(up, binary(n, Op::divide, number(whole, DType::F64, true), s));
      }
      Value r = binary(n, *digits < 0 ? Op::multiply : Op::divide, unary(n, Op::rint, up), s);
      if (arg(0).type.is_number() && arg(0).type.weak && is_float(arg(0).type.dtype))
        return unless_large(up, r);
      return arg(0).type.is_integer() || integers
                 ? cast(n, r, arg(0).type.dtype, arg(0).type.weak && !integers)
                 : r;
    }
    // Python's int, as NumPy's integers give it too.
    if (arg(0).type.is_number() && !is_inexact(arg(0).type.dtype))
      return cast(n, arg(0), DType::I64, true);
    return python_int(n, unary(n, Op::rint, arg(0)));
  }
  if (name == "sum" || name == "any" || name == "all") {
    expect(c, name, 1, 2);
    Value total = name == "sum" ? known_integer(0)
                                : from_scalar(Scalar::from_bool(name == "all"), DType::Bool, true);
    if (const Value* start = c.get(1, "start")) total = *start;
    if (arg(0).type.is_number()) fail(n, name + "() of one number: " + frontend::name(arg(0).type));
    if (arg(0).type.is_text()) not_yet(n, name + "() of a string");
    if (arg(0).type.is(Type::Tag::Iterator)) {
      Call listed = c;
      listed.args[0] = plain(list_from(n, arg(0)));
      return listed.args[0].unknown() ? Value{} : call_builtin(listed, name);
    }
    if (arg(0).type.is(Type::Tag::Tuple)) {
      for (const Value& i : arg(0).items) {
        if (name == "sum")
          total = binary(n, Op::add, total, i);
        else
          total = boolean(b_->emit(name == "any" ? Op::logical_or : Op::logical_and, DType::Bool,
                                   total.v[0], truth(n, i)));
      }
      return total;
    }
    Value over = arg(0).type.is(Type::Tag::Range) ? array_of_range(arg(0)) : arg(0);
    bool weak = over.type.weak;
    if (over.type.is_array() && over.type.ndim != 1)
      not_yet(n, name + "() of " + frontend::name(over.type), "np." + name);
    Reduction how{name};
    how.in_order = true;
    // Python adds NumPy's numbers to 0, one by one: they keep their type.
    if (name == "sum" && !weak && over.type.is_array() && numbus::is_integer(over.type.dtype))
      how.dtype = over.type.dtype;
    Value s = reduce(n, how, over);
    if (weak || name != "sum") s.type.weak = true;
    return c.get(1, "start") ? binary(n, Op::add, s, total) : s;
  }
  if (name == "divmod") {
    expect(c, name, 2, 2);
    Value r;
    r.items = {materialise(n, binary(n, Op::floor_divide, arg(0), arg(1))),
               materialise(n, binary(n, Op::remainder, arg(0), arg(1)))};
    if (r.items[0].unknown() || r.items[1].unknown()) return {};
    r.type = Type::tuple_of({r.items[0].type, r.items[1].type});
    return r;
  }
  if (name == "frozenset") {
    expect(c, name, 1, 1);
    Value r = arg(0);
    if (!r.type.is(Type::Tag::Tuple) || !r.type.text.empty())
      not_yet(n, "frozenset() of " + frontend::name(r.type),
              "set(x), or frozenset((1, 2)) for 'in'");
    r.type.text = "frozenset";
    return r;
  }
  if (name == "pow") {
    expect(c, name, 2, 3);
    if (c.args.size() == 3) return call_function(c, u_.program.library("pow mod"));
    return operation(n, Op::power, arg(0), arg(1));
  }
  if (name == "enumerate" || name == "zip") {
    Value r;
    r.type = Type::of(Type::Tag::Iterator);
    r.type.text = name;
    r.items = c.args;
    if (name == "enumerate") {
      expect(c, name, 1, 2);
      const Value* start = c.get(1, "start");
      if (arg(0).type.is(Type::Tag::Tuple) && arg(0).type.text.empty()) {
        // Of a plain tuple: pairs, unrolled.
        r.type = Type::of(Type::Tag::Tuple);
        r.items.clear();
        Value k = start ? *start : known_integer(0);
        for (const Value& i : arg(0).items) {
          Value pair;
          pair.items = {k, i};
          k = binary(n, Op::add, k, known_integer(1));
          pair.type = Type::tuple_of({pair.items[0].type, i.type});
          r.items.push_back(pair);
        }
      } else {
        r.items = {arg(0), start ? *start : known_integer(0)};
      }
    } else {
      bool tuples = true;
      for (const Value& i : r.items)
        tuples = tuples && i.type.is(Type::Tag::Tuple) && i.type.text.empty();
      if (tuples) {
        size_t length = r.items.empty() ? 0 : r.items[0].items.size();
        for (const Value& i : r.items) length = std::min(length, i.items.size());
        Value all;
        all.type = Type::of(Type::Tag::Tuple);
        for (size_t k = 0; k < length; ++k) {
          Value row;
          row.type = Type::of(Type::Tag::Tuple);
          for (const Value& i : r.items) {
            row.items.push_back(i.items[k]);
            row.type.items.push_back(i.items[k].type);
          }
          all.items.push_back(row);
          all.type.items.push_back(row.type);
        }
        return all;
      }
    }
    for (const Value& i : r.items) r.type.items.push_back(i.type);
    return r;
  }
  if (name == "tuple" || name == "list") {
    expect(c, name, 0, 1);
    if (c.args.empty()) {
      if (name == "list") return list_or_tuple(n, {});
      Value r;
      r.type = Type::of(Type::Tag::Tuple);
      return r;
    }
    if (arg(0).type.is(Type::Tag::Tuple) && arg(0).type.text.empty())
      return name == "list" ? list_or_tuple(n, arg(0).items) : plain_tuple(arg(0));
    if (name == "tuple" && arg(0).type.is_array() && !arg(0).lazy && arg(0).type.ndim == 1)
      if (auto length = constant_of(arg(0).shape()[0]); length && *length <= 64) {
        Value r;
        r.type = Type::of(Type::Tag::Tuple);
        for (int64_t k = 0; k < *length; ++k) {
          r.items.push_back(element(arg(0), std::vector<Val>{ci(k)}));
          r.type.items.push_back(r.items.back().type);
        }
        return r;
      }
    if (name == "list") return list_from(n, arg(0));
    not_yet(n, name + "() of " + frontend::name(arg(0).type));
  }
  if (name == "slice") {
    expect(c, name, 1, 3);
    Value r, none;
    none.type = Type::of(Type::Tag::None);
    r.items = {none, none, none};
    if (c.args.size() == 1)
      r.items[1] = arg(0);
    else
      for (size_t i = 0; i < c.args.size(); ++i) r.items[i] = arg(i);
    r.type = Type::of(Type::Tag::Slice);
    for (const Value& i : r.items) r.type.items.push_back(i.type);
    return r;
  }
  if (name == "reversed") {
    expect(c, name, 1, 1);
    if (arg(0).type.is(Type::Tag::Tuple)) {
      Value r = plain_tuple(arg(0));
      std::reverse(r.items.begin(), r.items.end());
      std::reverse(r.type.items.begin(), r.type.items.end());
      return r;
    }
    if (arg(0).type.is(Type::Tag::Range)) {
      Value r = arg(0);
      Val step = r.v[2], last = add(r.v[0], mul(sub(length_of_range(r), ci(1)), step));
      r.v = {last, sub(r.v[0], step), sub(ci(0), step)};
      return r;
    }
    if (!arg(0).type.is_array()) not_yet(n, "reversed() of " + frontend::name(arg(0).type));
    Value all, none;
    none.type = Type::of(Type::Tag::None);
    all.type = Type::of(Type::Tag::Slice);
    all.items = {none, none, known_integer(-1)};
    return view(n, arg(0).lazy ? materialise(n, arg(0)) : arg(0), {all});
  }
  if (name == "type") {
    expect(c, name, 1, 1);
    const Type& t = arg(0).type;
    Value r;
    r.type = Type::of(t.is_number() && !t.weak ? Type::Tag::DType : Type::Tag::Function);
    if (t.is_number()) {
      r.type.dtype = t.dtype;
      r.type.text = !t.weak                  ? "class"
                    : t.dtype == DType::Bool ? "bool"
                    : is_complex(t.dtype)    ? "complex"
                    : is_float(t.dtype)      ? "float"
                                             : "int";
    } else if (t.is_text()) {
      r.type.text = "str";
    } else if (t.is(Type::Tag::Tuple) && t.names.empty() && !t.listed) {
      r.type.text = "tuple";
    } else {
      not_yet(n, "type() of " + frontend::name(t), "isinstance()");
    }
    if (r.type.is(Type::Tag::Function)) r.type.dtype = Type{}.dtype;
    return r;
  }
  if (name == "hash") {
    expect(c, name, 1, 1);
    const Type& t = arg(0).type;
    if (t.is(Type::Tag::Tuple) && !t.listed) {
      // By the items' hashes, one after the other.
      Value all = integer(ci(0));
      for (const Value& item : arg(0).items) {
        const Value one = call_named({n, {item}, {}}, "hash");
        if (one.unknown()) return {};
        all = call_function({n, {all, one}, {}}, u_.program.library("hash next"));
        if (all.unknown()) return {};
      }
      return call_function({n, {all, integer(ci(static_cast<int64_t>(arg(0).items.size())))}, {}},
                           u_.program.library("hash tuple"));
    }
    if (t.is_text())
      not_yet(n, "hash() of a string: CPython draws it anew for each process",
              "the string as a key");
    if (!t.is_number()) not_yet(n, "hash() of " + frontend::name(t));
    const bool complex = is_complex(t.dtype), real = is_float(t.dtype);
    const bool big = t.dtype == DType::U64;
    const DType to = complex ? DType::C128 : real ? DType::F64 : big ? DType::U64 : DType::I64;
    const int library = u_.program.library(complex ? "hash complex"
                                           : real  ? "hash float"
                                           : big   ? "hash unsigned"
                                                   : "hash int");
    return call_function({n, {cast(n, arg(0), to, !big)}, {}}, library);
  }
  if (name == "isinstance") {
    expect(c, name, 2, 2);
    std::vector<Value> classes{arg(1)};
    for (size_t i = 0; i < classes.size(); ++i) {  // tuples may stand in tuples
      if (!classes[i].type.is(Type::Tag::Tuple)) continue;
      const std::vector<Value> inner = classes[i].items;
      classes.insert(classes.end(), inner.begin(), inner.end());
    }
    bool yes = false;
    const Type& t = arg(0).type;
    for (const Value& k : classes) {
      const std::string& cls = k.type.text;
      if (k.type.is(Type::Tag::DType))
        yes = yes || (t.is_number() && !t.weak && t.dtype == k.type.dtype);
      if (cls == "int") yes = yes || (t.is_integer() && t.weak);
      if (cls == "float")
        yes = yes || (t.is_number() && (t.weak ? is_float(t.dtype) : t.dtype == DType::F64));
      if (cls == "bool") yes = yes || (t.is_number() && t.dtype == DType::Bool && t.weak);
      if (cls == "complex")
        yes = yes || (t.is_number() && (t.weak ? is_complex(t.dtype) : t.dtype == DType::C128));
      if (cls == "slice") yes = yes || t.is(Type::Tag::Slice);
      if (cls == "dict") yes = yes || (t.is(Type::Tag::Dict) && !t.is_set());
      if (cls == "set") yes = yes || t.is_set();
      if (cls == "str") yes = yes || t.is_text();
      if (cls == "tuple") yes = yes || (t.is(Type::Tag::Tuple) && !t.listed);
      if (cls == "list") yes = yes || t.is(Type::Tag::List) || is_plain_list(arg(0)) || t.listed;
      if (cls.starts_with("namedtuple "))
        yes = yes || (!t.names.empty() && t.number == k.type.number);
      if (cls.starts_with("jitclass "))
        yes = yes || (t.is(Type::Tag::Object) && t.number == k.type.number);
      if (cls == "np.ndarray") yes = yes || t.is_array();
      if (cls == "np.integer")
        yes = yes || (t.is_number() && !t.weak && numbus::is_integer(t.dtype));
      if (cls == "np.floating") yes = yes || (t.is_number() && !t.weak && is_float(t.dtype));
    }
    return from_scalar(Scalar::from_bool(yes), DType::Bool, true);
  }
  if (name == "sorted") {
    int library = u_.program.library("np.sort");
    expect(c, name, 1, 1);
    if (library < 0) not_yet(n, "sorted()");
    Value over = arg(0);
    if (over.type.is(Type::Tag::Range) || over.type.is(Type::Tag::Iterator))
      over = plain(list_from(n, over));
    over = plain(over);
    if (over.unknown()) return {};
    if (!has_order(over.type) && !c.keyword("key"))
      fail(n, "sorted() of complex numbers, which have no order", "sorted(z, key=abs)");
    if (over.type.is(Type::Tag::Tuple) &&
        std::ranges::all_of(over.items, [](const Value& v) { return v.type.is_number(); }))
      over = list_of(n, over.items);
    if (over.type.is_number()) fail(n, "sorted() of " + frontend::name(over.type));
    const Value *key = c.keyword("key"), *reverse = c.keyword("reverse");
    if (key && key->type.is(Type::Tag::None)) key = nullptr;
    if (over.type.is_array() && over.type.ndim != 1)
      not_yet(n, "sorted() of " + frontend::name(over.type), "np.argsort of an array");
    if (!over.type.is_array() || key) {
      over = over.type.is_array() && !is_plain_list(over) ? list_from(n, over) : boxed(n, over);
      if (!over.unknown() && !over.type.is(Type::Tag::List)) over = list_from(n, over);
      if (over.unknown() || is_open(over.type)) return {};
      library = u_.program.library(key ? "sorted by" : "sorted any");
    } else if (reverse) {
      library = u_.program.library("sorted backwards");
    }
    const bool weak = over.type.weak;
    Call sorting{n, {over}, {}};
    if (key) sorting.args.push_back(*key);
    if (reverse) sorting.args.push_back(*reverse);
    Value r = call_function(sorting, library);
    if (r.type.is_array()) {
      r.type.text = "list";
      r.type.weak = weak;
    }
    return r;
  }
  if (name.starts_with("numbus random ")) return random(c, name.substr(14));
  if (name == "print") return print(c);
  if (name == "map") {
    if (c.args.size() < 2) fail(n, "map() takes a function and sequences");
    Value r;
    r.type = Type::of(Type::Tag::Iterator);
    r.type.text = "map";
    r.items = c.args;
    for (const Value& i : r.items) r.type.items.push_back(i.type);
    return r;
  }
  if (name == "getattr" || name == "hasattr") return attribute_by_text(c, name);
  if (name == "repr") {
    expect(c, name, 1, 1);
    return representation_of(n, arg(0));
  }
  if (name == "numbus is known") {
    const Value& v = arg(0);
    bool known = v.type.is(Type::Tag::None) || known_int(v).has_value();
    return from_scalar(Scalar::from_int(known), DType::Bool, true);
  }
  if (name.starts_with("numbus host ")) return host_call(c, name.substr(12));
  if (name.starts_with("numbus strict ")) return strict(c, name.substr(14));
  if (name.starts_with("numbus string ")) return string_primitive(c, name.substr(14));
  if (name.starts_with("numbus dict ")) return dict_primitive(c, name.substr(12));
  if (name == "dict") return dict_from(c);
  if (name == "numbus axis last") {
    const Value a = arg(1).lazy ? materialise(n, arg(1)) : arg(1);
    if (a.unknown()) return {};
    return with_axis_moved(a, axis_of_run_time(n, arg(0).type.text, arg(2), a.type.ndim), false);
  }
  if (name == "numbus axis back") {
    const Value a = arg(1).lazy ? materialise(n, arg(1)) : arg(1);
    if (a.unknown()) return {};
    const auto ndim = static_cast<size_t>(*known_int(arg(3)));
    const Val axis = axis_of_run_time(n, arg(0).type.text, arg(2), ndim);
    return with_axis_moved(a, add(axis, ci(static_cast<int64_t>(a.type.ndim - ndim))), true);
  }
  if (name == "numbus not yet")
    not_yet(n, arg(0).type.text, c.args.size() > 1 ? arg(1).type.text : "");
  if (name == "numbus kind_of" || name == "numbus is_half") {
    const Value& of = arg(0);
    if (!of.type.is(Type::Tag::DType)) fail(n, "not a dtype; got " + frontend::name(of.type), "");
    if (name == "numbus is_half")
      return from_scalar(Scalar::from_bool(is_half(of.type.dtype)), DType::Bool, true);
    return text({"biufc"[static_cast<int>(numbus::kind(of.type.dtype))]});
  }
  if (name == "numbus list resize") {
    resize_list(arg(0), index_value(n, arg(1)));
    Value none;
    none.type = Type::of(Type::Tag::None);
    return none;
  }
  if (name.starts_with("exception "))
    fail(n, "exceptions can only be raised", "raise " + name.substr(10) + "(\"…\")");
  not_yet(n, "calling " + name);
}

// getattr(x, "name"), getattr(x, "name", default), hasattr(x, "name"): decided while compiling.
Value Lower::attribute_by_text(const Call& c, const std::string& name) {
  const Node& n = c.n;
  const bool asks = name == "hasattr";
  expect(c, name, 2, asks ? 2 : 3);
  if (c.args[0].unknown()) return {};
  if (!c.args[1].type.is(Type::Tag::Text))
    fail(n, name + "() takes the attribute's name; got " + frontend::name(c.args[1].type),
         "a literal string");
  const Value& v = c.args[0];
  const std::string& attribute = c.args[1].type.text;
  bool there = true;
  if (v.type.is(Type::Tag::Object)) {
    const std::vector<std::string>& fields = object_class(v.type.number).names;
    there = std::find(fields.begin(), fields.end(), attribute) != fields.end() ||
            member(v.type, "get", attribute) >= 0;
    if (!there && member(v.type, "method", attribute) >= 0) {
      if (!asks) not_yet(n, "getattr() of a method", "x." + attribute + "()");
      there = true;
    }
  } else if (asks || c.args.size() == 3) {
    static const std::unordered_set<std::string> kOfArrays = {
        "shape", "strides", "size", "ndim",  "itemsize", "nbytes",
        "T",     "dtype",   "flat", "flags", "real",     "imag"};
    const bool array = v.type.is_array() && kOfArrays.contains(attribute);
    const auto& fields = v.type.names;
    const bool named = v.type.is(Type::Tag::Tuple) && !fields.empty();
    there =
        array || (named && std::find(fields.begin() + 1, fields.end(), attribute) != fields.end());
    // What else Python's and NumPy's objects have is not written down here.
    if (!there &&
        (!named || attribute.starts_with("_") || attribute == "count" || attribute == "index"))
      not_yet(n, name + "() of " + frontend::name(v.type) + " with the name '" + attribute + "'");
  }
  if (asks) {
    Value r = boolean(b_->constant(DType::Bool, Scalar::from_bool(there)));
    r.known = Scalar::from_bool(there);
    return r;
  }
  return there || c.args.size() == 2 ? attribute_of(n, v, attribute) : c.args[2];
}

}  // namespace numbus::frontend
