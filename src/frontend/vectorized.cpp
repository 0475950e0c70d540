// Functions made by @vectorize and @guvectorize, called inside of compiled functions.
#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

// Whether a declared type takes this one without loss; Python's numbers fit into any type of theirs
// and wider kinds.
bool takes(DType declared, const Type& t) {
  if (!t.is_array() && t.weak) return kind(t.dtype) <= kind(declared) || t.dtype == DType::Bool;
  return can_cast(t.dtype, declared, Casting::Safe);
}

}  // namespace

// `f` is the function's type: its number, and the declared loops, a tuple of types for each: those
// of the arguments, then the result's.
Value Lower::call_vectorized(const Call& c, const Type& f) {
  const Node& n = c.n;
  const Source& s = u_.program.source(f.number);
  const Node& parameters = *s.definition.one(Field::args);
  size_t nin = parameters.all(Field::posonlyargs).size() + parameters.all(Field::args).size();
  for (const auto& [k, v] : c.keywords)
    if (k != "out") not_yet(n, s.name + "() with " + k + "=", "out=");
  const Value* out = c.get(nin, "out");
  if (out && out->type.is(Type::Tag::None)) out = nullptr;
  if (c.args.size() < nin || c.args.size() > nin + 1)
    fail(n, s.name + "() takes " + std::to_string(nin) + " arguments; got " +
                std::to_string(c.args.size()));
  std::vector<Value> args(c.args.begin(), c.args.begin() + static_cast<int64_t>(nin));
  bool arrays = false;
  for (Value& a : args) {
    if (a.type.is(Type::Tag::Tuple)) a = from_items(n, a.items, {});
    if (!a.type.is_array() && !a.type.is_number())
      fail(n, s.name + "() does not work on " + name(a.type));
    arrays = arrays || a.type.is_array();
  }
  const Type* loop = nullptr;
  for (const Type& l : f.items) {
    bool all = true;
    for (size_t i = 0; i < nin; ++i) all = all && takes(l.items[i].dtype, args[i].type);
    if (all) {
      loop = &l;
      break;
    }
  }
  if (!loop && !f.items.empty()) {
    std::string got, declared;
    for (const Value& a : args) got += (got.empty() ? "" : ", ") + name(a.type);
    for (const Type& l : f.items) declared += (declared.empty() ? "" : " or ") + name(l);
    fail(n, "no declared loop of " + s.name + "() takes these types safely; got (" + got + ")",
         "types and result of one of " + declared);
  }
  if (arrays && !loop) {
    std::vector<Type> types;
    for (const Value& a : args)
      types.push_back(Type::number_of(a.type.dtype, a.type.is_number() && a.type.weak));
    narrow_weak(types);
    for (size_t i = 0; i < nin; ++i)
      if (args[i].type.is_number() && args[i].type.weak && !types[i].weak)
        args[i] = cast(n, args[i], types[i].dtype);
  }
  auto element_call = [this, &n, loop, number = f.number](std::vector<Value> e) {
    for (size_t i = 0; loop && i < e.size(); ++i) e[i] = cast(n, e[i], loop->items[i].dtype);
    Value r = call_function({n, std::move(e), {}}, number);
    return loop ? cast(n, r, loop->items.back().dtype) : r;
  };
  Value result;
  if (!arrays) {
    result = element_call(args);
  } else {
    std::vector<Type> types;
    for (size_t i = 0; i < nin; ++i)
      types.push_back(loop ? loop->items[i]
                           : Type::number_of(args[i].type.dtype,
                                             args[i].type.is_number() && args[i].type.weak));
    const Type one = u_.specialise(f.number, types, &n).result;
    if (one.unknown()) {
      waiting_ = true;
      return {};
    }
    if (!one.is_number()) fail(n, s.name + "() has to give a number; this gives " + name(one));
    std::vector<Val> shape = broadcast(n, args);
    size_t ndim = shape.size();
    Spread spread(*this, args, shape);
    std::vector<std::vector<Val>> repeated = spread.repeated;
    auto element_at = [this, args, ndim, repeated, element_call](std::span<const Val> at) {
      std::vector<Value> e;
      for (size_t k = 0; k < args.size(); ++k) {
        e.push_back(broadcast_element(args[k], at, ndim, repeated[k]));
        if (args[k].type.is_array()) e.back().type.weak = false;
      }
      return element_call(std::move(e));
    };
    result =
        elementwise(loop ? loop->items.back().dtype : one.dtype, shape, args, element_at, &spread);
    // The function runs once for each element, whatever reads the result.
    if (!out && !u_.options.kernel) result = materialise(n, result);
  }
  if (!out) return result;
  fill(n, *out, result);
  return *out;
}

// The loops around a function of rows are Python, written for these arguments.
Value Lower::call_generalised(const Call& c, int number) {
  for (const Value& a : c.args)
    if (!a.type.is_array() && !a.type.is_number())
      fail(c.n, "a function made by guvectorize takes arrays and numbers; got " + name(a.type));
  std::vector<Type> types;
  std::vector<Value> args = c.args;
  for (const auto& [k, v] : c.keywords) {
    if (k != "out") not_yet(c.n, "a function made by guvectorize with " + k + "=");
    if (v.type.is(Type::Tag::Tuple))
      args.insert(args.end(), v.items.begin(), v.items.end());
    else
      args.push_back(v);
  }
  for (const Value& a : args) types.push_back(a.type);
  std::string mistake;
  int made = u_.program.generalised(number, types, mistake);
  if (made < 0) fail(c.n, mistake);
  return call_function({c.n, args, {}}, made);
}

}  // namespace numbus::frontend
