// NumPy's functions inside compiled functions: which method emits which, and those of types and
// numbers.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

// NumPy's short names of types, in the byte order of the machine.
std::optional<DType> dtype_of_code(std::string_view code) {
  static const std::unordered_map<std::string_view, DType> kCodes = {
      {"?", DType::Bool},      {"b1", DType::Bool},    {"b", DType::I8},
      {"i1", DType::I8},       {"byte", DType::I8},    {"h", DType::I16},
      {"i2", DType::I16},      {"short", DType::I16},  {"i", DType::I32},
      {"i4", DType::I32},      {"intc", DType::I32},   {"l", DType::I64},
      {"q", DType::I64},       {"p", DType::I64},      {"i8", DType::I64},
      {"int", DType::I64},     {"long", DType::I64},   {"intp", DType::I64},
      {"B", DType::U8},        {"u1", DType::U8},      {"ubyte", DType::U8},
      {"H", DType::U16},       {"u2", DType::U16},     {"ushort", DType::U16},
      {"I", DType::U32},       {"u4", DType::U32},     {"uintc", DType::U32},
      {"L", DType::U64},       {"Q", DType::U64},      {"P", DType::U64},
      {"u8", DType::U64},      {"uint", DType::U64},   {"e", DType::F16},
      {"f2", DType::F16},      {"half", DType::F16},   {"f", DType::F32},
      {"f4", DType::F32},      {"single", DType::F32}, {"d", DType::F64},
      {"f8", DType::F64},      {"double", DType::F64}, {"float", DType::F64},
      {"F", DType::C64},       {"c8", DType::C64},     {"csingle", DType::C64},
      {"D", DType::C128},      {"c16", DType::C128},   {"complex", DType::C128},
      {"cdouble", DType::C128}};
  if (code.size() > 1 && (code[0] == '<' || code[0] == '=' || code[0] == '|'))
    code.remove_prefix(1);
  auto found = kCodes.find(code);
  return found == kCodes.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<DType> Lower::dtype_argument(const Call& c, size_t index, const std::string& name) {
  const Value* v = c.get(index, name);
  if (!v || v->type.is(Type::Tag::None)) return {};
  if (v->type.is(Type::Tag::DType)) return v->type.dtype;
  if (v->type.is(Type::Tag::Function)) {
    if (v->type.text == "int") return DType::I64;
    if (v->type.text == "float") return DType::F64;
    if (v->type.text == "bool") return DType::Bool;
    if (v->type.text == "complex") return DType::C128;
  }
  if (v->type.is(Type::Tag::Text))
    for (int t = 0; t < kNumDTypes; ++t)
      if (kDTypes[t].name == v->type.text) return static_cast<DType>(t);
  if (v->type.is(Type::Tag::Text)) {
    if (auto t = dtype_of_code(v->type.text)) return t;
    not_yet(c.n, "the dtype '" + v->type.text + "'", "np.float64");
  }
  fail(c.n, "a dtype has to be a type known while compiling; got " + frontend::name(v->type),
       "np.float64");
}
// Keywords that mean something to the functions below; others would be ignored.
void Lower::check_keywords(const Call& c, const std::string& name) {
  static const std::unordered_map<std::string, std::string> kKnown = {
      {"zeros", " shape dtype order "},
      {"ones", " shape dtype order "},
      {"empty", " shape dtype order "},
      {"full", " shape fill_value dtype order "},
      {"zeros_like", " dtype "},
      {"ones_like", " dtype "},
      {"empty_like", " dtype "},
      {"full_like", " dtype fill_value "},
      {"arange", " dtype "},
      {"linspace", " num endpoint "},
      {"eye", " M k dtype "},
      {"identity", " dtype "},
      {"array", " dtype copy "},
      {"asarray", " dtype copy "},
      {"ascontiguousarray", " dtype "},
      {"where", " "},
      {"clip", " a_min a_max min max out "},
      {"round", " decimals "},
      {"around", " decimals "},
      {"astype", " dtype order casting subok copy "},
      {"copy", " order "},
      {"transpose", " axes "},
      {"reshape", " order "},
      {"ravel", " order "},
      {"flatten", " order "},
      {"fill", " value "},
      {"ndindex", " "},
      {"ndenumerate", " "},
      {"nditer", " "},
      {"broadcast_to", " shape "},
  };
  auto it = kKnown.find(name);
  if (it == kKnown.end()) return;
  for (const auto& [k, v] : c.keywords) {
    if (it->second.find(" " + k + " ") == std::string::npos)
      not_yet(c.n, name + "() with " + k + "=");
  }
  // How many of NumPy's parameters are read by position.
  static const std::unordered_map<std::string, size_t> kPositional = {
      {"zeros", 3},      {"ones", 3},      {"empty", 3},      {"full", 4},
      {"zeros_like", 2}, {"ones_like", 2}, {"empty_like", 2}, {"full_like", 3},
      {"eye", 4},        {"linspace", 4},  {"identity", 2},   {"array", 2},
      {"asarray", 2},    {"where", 3},     {"astype", 5},     {"broadcast_to", 2}};
  if (auto most = kPositional.find(name); most != kPositional.end() && c.args.size() > most->second)
    not_yet(c.n, name + "() of " + std::to_string(c.args.size()) + " arguments by position");
  // The order, which texts alone are, by position or by name.
  auto order = [&](const Value& v) {
    if (!v.type.is(Type::Tag::Text)) return;
    if (v.type.text == "F") not_yet(c.n, name + "() with order='F'", "np.asfortranarray");
  };
  static const std::unordered_set<std::string> kTakeAny = {"astype", "copy",    "flatten",
                                                           "ravel",  "reshape", "round"};
  if (kTakeAny.contains(name)) return;
  if (const Value* v = c.keyword("order"); v && v->type.is(Type::Tag::Text)) {
    const bool like = name.ends_with("_like") || name == "array" || name == "asarray";
    if (v->type.text != "C" && v->type.text != "F" &&
        !(like && (v->type.text == "A" || v->type.text == "K")))
      fail(c.n, name + "() with order='" + v->type.text + "'", "order='C'");
  }
  for (const Value& v : c.args) order(v);
  for (const auto& [k, v] : c.keywords) order(v);
}

// A limit of np.clip as a number of the type that NumPy gives all three operands: Python's numbers
// take the type of the others, and an int beyond its end limits nothing.
Value Lower::limit_of_clip(const Node& n, const Value& limit, std::span<const Type> all,
                           bool upper) {
  Type t;
  for (const Type& one : all) {
    if (!one.is_number() && !one.is_array()) return limit;
    if (one.is_array() || !one.weak)
      t = t.unknown() ? Type::number_of(one.dtype, false)
                      : promoted(t, Type::number_of(one.dtype, false));
  }
  if (t.unknown() || !limit.type.is_number() || !limit.type.weak) return limit;
  for (const Type& one : all)
    if (one.is_number() && one.weak) t = promoted(t, one);
  Value v = limit;
  if (limit.type.is_integer() && numbus::is_integer(t.dtype) && t.dtype != DType::Bool) {
    // A number of int64 has no end above in uint64.
    const int64_t least = lowest_number(t.dtype).i,
                  most = highest_number(t.dtype == DType::U64 ? DType::I64 : t.dtype).i;
    Val x = as(limit, DType::I64);
    auto beyond = upper ? less(x, ci(least)) : less(ci(most), x);
    when(beyond, [&] {
      raise_at(site(n, "OverflowError",
                    "Python integer {0} out of bounds for " + std::string(numbus::name(t.dtype))),
               x);
    });
    x = upper ? b_->emit(Op::minimum, DType::I64, x, ci(most))
              : b_->emit(Op::maximum, DType::I64, x, ci(least));
    v = number(x, DType::I64, true);
  }
  v = cast(n, v, t.dtype);
  v.type.weak = false;
  return v;
}

// result_type, promote_types.
Value Lower::numpy_type(const Call& c, const std::string& name) {
  const Node& n = c.n;
  // Arrays and types are strong, Python's numbers are weak.
  Type all;
  for (size_t k = 0; k < c.args.size(); ++k) {
    Value a = c.args[k];
    if (a.type.is(Type::Tag::Text) || a.type.is(Type::Tag::Function)) {  // 'float32', int
      const DType t = *dtype_argument(c, k, "");
      a.type = Type::of(Type::Tag::DType);
      a.type.dtype = t;
    }
    bool number_like = a.type.is_array() || a.type.is(Type::Tag::DType) || a.type.is_number();
    if (!number_like) fail(n, "np." + name + " of " + frontend::name(a.type));
    Type one = Type::number_of(a.type.dtype, a.type.is_number() && a.type.weak);
    all = all.is_number() ? promoted(all, one) : one;
  }
  Value r;
  r.type = Type::of(Type::Tag::DType);
  r.type.dtype = all.dtype;
  return r;
}

Value Lower::numpy_can_cast(const Call& c, const std::string& /*name*/) {
  const Node& n = c.n;
  const Value* rule = c.get(2, "casting");
  auto from = dtype_argument(c, 0, "from_"), to = dtype_argument(c, 1, "to");
  if (from && to)
    return from_scalar(Scalar::from_int(numbus::can_cast(
                           *from, *to, rule ? casting_argument(n, *rule) : Casting::Safe)),
                       DType::Bool, true);
  fail(n, "np.can_cast() needs two types and a rule", "np.can_cast(a.dtype, np.float32, 'safe')");
}

// finfo, iinfo.
Value Lower::numpy_info(const Call& c, const std::string& name) {
  const Node& n = c.n;
  expect(c, "np." + name, 1, 1);
  Value r;
  r.type = Type::of(Type::Tag::Module);
  r.type.text = name;
  r.type.dtype = c.args[0].type.is(Type::Tag::Function) ? *dtype_argument(c, 0, "dtype")
                                                        : c.args[0].type.dtype;
  if (is_float(real_of(r.type.dtype)) != (name == "finfo"))
    fail(n, "np." + name + " of " + std::string(numbus::name(r.type.dtype)));
  r.type.dtype = real_of(r.type.dtype);
  return r;
}

// What a program gets of NumPy is NumPy's number.
Value Lower::numpys_number(Value v) const {
  v.type.weak = v.type.weak && (!v.type.is_number() || scope_->source->library());
  return v;
}

Value Lower::numpy_where(const Call& c, const std::string& /*name*/) {
  const Node& n = c.n;
  if (std::ranges::any_of(c.args, [](const Value& a) { return a.unknown(); })) return {};
  if (std::ranges::none_of(c.args, [](const Value& a) { return a.type.is_array(); }))
    return numpys_number(choose(n, truth(n, c.args[0]), c.args[1], c.args[2], true));
  std::vector<Value> held = c.args;
  Type a = Type::number_of(held[1].type.dtype, held[1].type.weak && !held[1].type.is_array()),
       b = Type::number_of(held[2].type.dtype, held[2].type.weak && !held[2].type.is_array()),
       both_types = promoted(a, b);
  std::vector<Val> shape = broadcast(n, held);
  size_t ndim = shape.size();
  Spread spread(*this, held, shape);
  std::vector<std::vector<Val>> repeated = spread.repeated;
  return elementwise(
      both_types.dtype, shape, held,
      [this, held, ndim, repeated, &n](std::span<const Val> at) {
        auto of = [&](size_t k) { return broadcast_element(held[k], at, ndim, repeated[k]); };
        return choose(n, truth(n, of(0)), of(1), of(2), true);
      },
      &spread);
}

Value Lower::numpy_clip(const Call& c, const std::string& /*name*/) {
  const Node& n = c.n;
  expect(c, "np.clip", 1, 4);
  Value v = c.args.at(0);
  const Value *low = c.get(1, "a_min"), *high = c.get(2, "a_max"), *out = c.get(3, "out");
  if (!low) low = c.keyword("min");
  if (!high) high = c.keyword("max");
  for (const Value** given : {&low, &high, &out})
    if (*given && (*given)->type.is(Type::Tag::None)) *given = nullptr;
  std::vector<Type> all{v.type};
  if (low) all.push_back(low->type);
  if (high) all.push_back(high->type);
  if (low) v = binary(n, Op::maximum, v, limit_of_clip(n, *low, all, false));
  if (high) v = binary(n, Op::minimum, v, limit_of_clip(n, *high, all, true));
  if (out) fill(n, *out, v);
  return out ? *out : numpys_number(v);
}

// round, around, rint.
Value Lower::numpy_round(const Call& c, const std::string& name) {
  const Node& n = c.n;
  if (c.args.size() == 1 && c.keywords.empty()) {
    const Value& a = c.args[0];
    bool whole = numbus::is_integer(a.type.dtype) && a.type.dtype != DType::Bool;
    if (whole && a.type.is_number() && name != "rint") return cast(n, a, a.type.dtype);
    if (whole && a.type.is_array() && name != "rint")
      return converted_copy(n, a, a.type.dtype, kept_order(a));
    return unary(n, Op::rint, a);
  }
  return call_builtin(c, "round");
}

Value Lower::call_numpy(const Call& given, const std::string& name, bool& known) {
  const Node& n = given.n;
  static const std::unordered_set<std::string> kOfArray = {
      "zeros_like", "ones_like", "empty_like", "full_like", "real",  "imag",   "conj",
      "around",     "round",     "clip",       "where",     "angle", "squeeze"};
  Call c{n, given.args, given.keywords};
  if (kOfArray.contains(name))
    for (Value& a : c.args)
      if (a.type.is(Type::Tag::Tuple)) a = as_array(n, a);
  if (auto op = row_of(name)) return call_ufunc(c, *op, name);
  // Of those whose first parameters are read by position, here given by their names.
  static const std::unordered_map<std::string, std::vector<std::string>> kFirst = {
      {"linspace", {"start", "stop"}},
      {"reshape", {"a", "shape"}},
      {"broadcast_to", {"array", "shape"}},
      {"array", {"object"}},
      {"asarray", {"a"}},
      {"asanyarray", {"a"}},
      {"ascontiguousarray", {"a"}},
  };
  if (auto first = kFirst.find(name); first != kFirst.end()) {
    const std::vector<std::string>& names = first->second;
    const auto given = [&](const std::string& key) {
      return std::find_if(c.keywords.begin(), c.keywords.end(),
                          [&](const auto& k) { return k.first == key; });
    };
    if (c.args.size() < names.size() && given(names[c.args.size()]) != c.keywords.end()) {
      Call moved{n, c.args, c.keywords};
      moved.args.push_back(given(names[c.args.size()])->second);
      moved.keywords.erase(moved.keywords.begin() +
                           (given(names[c.args.size()]) - c.keywords.begin()));
      return call_numpy(moved, name, known);
    }
  }
  if (name == "asanyarray") return call_numpy(c, "asarray", known);
  if (name == "astype" && !c.args.empty())
    return method({n, {c.args.begin() + 1, c.args.end()}, c.keywords}, as_array(n, c.args[0]),
                  name);
  if (name == "linspace" && c.args.size() > 1) {
    const bool arrays = c.args[0].type.is_array() || c.args[1].type.is_array() ||
                        c.args[0].type.is(Type::Tag::Tuple) || c.args[1].type.is(Type::Tag::Tuple);
    const bool complex = is_complex(c.args[0].type.dtype) || is_complex(c.args[1].type.dtype);
    if (arrays || complex || c.args.size() > 4 || c.keyword("dtype") || c.keyword("axis") ||
        c.keyword("retstep")) {
      const auto t = dtype_argument(c, 5, "dtype");
      for (auto& [k, v] : c.keywords)
        if (k == "dtype" && t) v.type = Type::of(Type::Tag::DType), v.type.dtype = *t;
      return call_function(c, u_.program.library("linspace of arrays"));
    }
  }
  check_keywords(c, name);
  if (name == "frombuffer") return from_buffer(c);
  if (name == "lib.stride_tricks.as_strided") return as_strided(c);
  if (name == "ndindex" || name == "ndenumerate" || name == "nditer")
    return indices_to_loop_over(c, name);
  static const std::unordered_map<std::string, std::string> kReductions = {
      {"sum", "sum"},       {"prod", "prod"},
      {"min", "min"},       {"amin", "min"},
      {"max", "max"},       {"amax", "max"},
      {"any", "any"},       {"all", "all"},
      {"mean", "mean"},     {"var", "var"},
      {"std", "std"},       {"argmin", "argmin"},
      {"argmax", "argmax"}, {"count_nonzero", "count_nonzero"}};
  if (auto it = kReductions.find(name); it != kReductions.end()) {
    if (c.args.empty()) fail(n, "np." + name + " needs an array");
    Value a = c.args[0];
    if (a.type.is(Type::Tag::Tuple)) a = as_array(n, a);
    return reduction(c, it->second, a, 1);
  }
  if (name == "einsum") return call_einsum(c);
  if (name == "dtype") {
    Value r;
    r.type = Type::of(Type::Tag::DType);
    r.type.dtype = dtype_argument(c, 0, "dtype").value_or(DType::F64);
    return r;
  }
  if (name == "diag" || name == "diagonal")
    if (auto view = diagonal(c, name)) return *view;
  if (name == "ravel") {
    expect(c, "np.ravel", 1, 2);
    const Value a = as_array(n, c.args[0]);
    return ravel(n, in_order(n, name, a, c.get(1, "order")) == Order::F ? transpose(a) : a);
  }
  if (name == "reshape") {
    expect(c, "np.reshape", 2, 3);
    const Value& s = c.args.at(1);
    return reshape_in_order(c, c.args[0],
                            s.type.is(Type::Tag::Tuple) ? s.items : std::vector<Value>{s}, 2);
  }
  if (name == "copy") {
    expect(c, "np.copy", 1, 3);
    const Value* order = c.get(1, "order");
    return method({n, {order ? *order : text("K")}, {}}, as_array(n, c.args[0]), "copy");
  }
  if (name == "real" || name == "imag") {
    expect(c, "np." + name, 1, 1);
    return attribute_of(n, c.args[0], name);
  }
  if (name == "where" && c.args.size() != 3) {
    known = false;
    return {};
  }
  using Method = Value (Lower::*)(const Call&, const std::string&);
  static const std::unordered_map<std::string, Method> kMethods = {
      {"zeros", &Lower::numpy_full},
      {"ones", &Lower::numpy_full},
      {"empty", &Lower::numpy_full},
      {"full", &Lower::numpy_full},
      {"zeros_like", &Lower::numpy_full_like},
      {"ones_like", &Lower::numpy_full_like},
      {"empty_like", &Lower::numpy_full_like},
      {"full_like", &Lower::numpy_full_like},
      {"arange", &Lower::numpy_arange},
      {"linspace", &Lower::numpy_linspace},
      {"eye", &Lower::numpy_eye},
      {"identity", &Lower::numpy_eye},
      {"array", &Lower::numpy_array},
      {"asarray", &Lower::numpy_array},
      {"ascontiguousarray", &Lower::numpy_array},
      {"where", &Lower::numpy_where},
      {"clip", &Lower::numpy_clip},
      {"round", &Lower::numpy_round},
      {"around", &Lower::numpy_round},
      {"rint", &Lower::numpy_round},
      {"result_type", &Lower::numpy_type},
      {"promote_types", &Lower::numpy_type},
      {"can_cast", &Lower::numpy_can_cast},
      {"finfo", &Lower::numpy_info},
      {"iinfo", &Lower::numpy_info},
      {"transpose", &Lower::numpy_transpose},
      {"swapaxes", &Lower::numpy_transpose},
      {"moveaxis", &Lower::numpy_transpose},
      {"broadcast_to", &Lower::numpy_broadcast_to},
      {"shape", &Lower::numpy_shape},
      {"size", &Lower::numpy_shape},
      {"ndim", &Lower::numpy_shape},
  };
  if (auto found = kMethods.find(name); found != kMethods.end())
    return (this->*found->second)(c, name);
  known = false;
  return {};
}

}  // namespace numbus::frontend
