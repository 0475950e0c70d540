// Calls of NumPy's ufuncs in compiled functions, with their keywords.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

// Operands in the type of `dtype=`, as far as `casting=` allows it.
static std::string refused(const std::string& name, DType from, DType to) {
  return "np." + name + " cannot cast " + std::string(numbus::name(from)) + " to " +
         std::string(numbus::name(to));
}

Lower::UfuncKeywords Lower::ufunc_keywords(const Call& c, const std::string& name, size_t nin) {
  UfuncKeywords k;
  const Node& n = c.n;
  auto given = [](const Value* v) { return v && !v->type.is(Type::Tag::None); };
  if (const Value* out = c.get(nin, "out"); given(out)) {
    const bool pair = out->type.is(Type::Tag::Tuple);
    if (pair && out->items.size() != 1) fail(n, "np." + name + " has one result");
    k.out = pair ? out->items[0] : *out;
    if (k.out->type.is(Type::Tag::None)) k.out.reset();
  }
  for (const auto& [word, v] : c.keywords) {
    if (word == "out" || v.unknown()) continue;
    const std::string what = "np." + name + " with " + word + "=";
    if (word == "where") {
      const bool number = v.type.is_number();
      if ((number || v.type.is_array()) && v.type.dtype != DType::Bool)
        fail(n, what + " of " + frontend::name(v.type) + "; expected bool");
      if (!number && !v.type.is_array()) not_yet(n, what + " of " + frontend::name(v.type));
      if (!number || !v.known || v.known->real() == 0) k.where = v;
    } else if (word == "dtype") {
      k.dtype = dtype_argument(c, c.args.size(), word);
    } else if (word == "casting") {
      k.casting = casting_argument(n, v);
      if (k.casting == Casting::No || k.casting == Casting::Equiv)
        not_yet(n, what + "'" + v.type.text + "'", "casting='safe'");
    } else if (word == "order") {
      // Results of compiled functions lie in C order.
      const bool text = v.type.is(Type::Tag::Text) && v.type.text.size() == 1;
      if (!text || std::string_view("KAC").find(v.type.text[0]) == std::string_view::npos)
        not_yet(n, what + frontend::name(v.type), "order='C'");
    } else if (word == "subok") {
      // There are no subclasses, so that both say the same.
      if (!v.type.is_number() || v.type.dtype != DType::Bool)
        fail(n, what + " of " + frontend::name(v.type) + "; expected True or False");
    } else {
      not_yet(n, what);
    }
  }
  return k;
}

Casting Lower::casting_argument(const Node& n, const Value& v) {
  static const std::pair<const char*, Casting> kRules[] = {{"no", Casting::No},
                                                           {"equiv", Casting::Equiv},
                                                           {"safe", Casting::Safe},
                                                           {"same_kind", Casting::SameKind},
                                                           {"unsafe", Casting::Unsafe}};
  if (v.type.is(Type::Tag::Text))
    for (auto [text, casting] : kRules)
      if (v.type.text == text) return casting;
  fail(n, "casting has to be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe'; got " +
              (v.type.is(Type::Tag::Text) ? "'" + v.type.text + "'" : frontend::name(v.type)));
}

Value Lower::call_ufunc(const Call& c, Op op, const std::string& name) {
  const Node& n = c.n;
  const size_t nin = row(op).nin;
  if (c.args.size() < nin)
    fail(n, "np." + name + " takes " + std::to_string(nin) + " arguments; got " +
                std::to_string(c.args.size()));
  expect(c, "np." + name, nin, nin + 1);  // the result's array follows the operands
  const UfuncKeywords k = ufunc_keywords(c, name, nin);
  std::vector<Value> args(c.args.begin(), c.args.begin() + static_cast<int64_t>(nin));
  for (Value& a : args) {
    if (a.type.is(Type::Tag::Tuple)) a = as_array(n, a);
    if (!k.dtype || !(a.type.is_number() || a.type.is_array())) continue;
    if (!can_cast(a.type.dtype, *k.dtype, k.casting))
      fail(n, refused(name, a.type.dtype, *k.dtype));
    // Python's ints beyond the type raise where they meet an operand of it.
    if (a.type.is_number() && a.type.weak && numbus::is_integer(*k.dtype)) {
      if (nin == 1 || c.args[&a == &args[0]].type.weak) not_yet(n, "dtype= of Python's ints");
      continue;
    }
    a = cast(n, a, *k.dtype);
    a.type.weak = false;
  }
  // What NumPy makes of Python's numbers alone are its own numbers.
  if (std::ranges::all_of(args, [](const Value& a) { return a.type.is_number() && a.type.weak; }))
    for (Value& a : args) a.type.weak = false;
  // No operator of Python's complex takes np.float64 for a float of Python's here.
  if (std::ranges::any_of(args, [](const Value& a) {
        return a.type.is_number() && !a.type.weak && a.type.dtype == DType::F64;
      }))
    for (Value& a : args)
      if (a.type.is_number() && is_complex(a.type.dtype)) a.type.weak = false;
  Value r = nin == 1 ? unary(n, op, args[0]) : binary(n, op, args[0], args[1]);
  if (r.unknown()) return r;
  // Comparisons and the like choose their loops otherwise.
  if (k.dtype && (r.type.dtype != *k.dtype || r.type.dtype == DType::Bool))
    not_yet(n, "np." + name + " with dtype=np." + std::string(numbus::name(*k.dtype)));
  bool known = true;
  if (!k.out) return k.where ? call_numpy({n, {*k.where, r, r}, {}}, "where", known) : r;
  if (k.out->type.is_array()) expect_taken(n, "np." + name, r, *k.out, k.casting);
  if (k.where && k.out->type.is_array())
    r = call_numpy({n, {*k.where, cast(n, r, k.out->type.dtype), *k.out}, {}}, "where", known);
  fill(n, *k.out, r);
  return *k.out;
}

}  // namespace numbus::frontend
