// NumPy's functions inside compiled functions: rows of the table, creation, reductions.
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

std::vector<Val> Lower::shape_argument(const Node& n, const Value& v) {
  if (v.type.is_integer()) return {index_value(n, v)};
  if (!v.type.is(Type::Tag::Tuple))
    fail(n, "a shape is an integer or a tuple of integers; got " + name(v.type));
  std::vector<Val> shape;
  for (const Value& i : v.items) shape.push_back(index_value(n, i));
  return shape;
}

Value Lower::from_items(const Node& n, const std::vector<Value>& items, std::optional<DType> t,
                        bool strong) {
  // Nested tuples of numbers, of one length at each depth.
  std::vector<int64_t> shape;
  std::vector<Value> flat;
  std::function<void(const std::vector<Value>&, size_t)> walk = [&](const std::vector<Value>& level,
                                                                    size_t depth) {
    if (shape.size() <= depth) shape.push_back(static_cast<int64_t>(level.size()));
    if (shape[depth] != static_cast<int64_t>(level.size())) fail(n, "rows of different lengths");
    for (const Value& i : level) {
      if (i.type.is(Type::Tag::Tuple))
        walk(i.items, depth + 1);
      else if (i.type.is_number())
        flat.push_back(i);
      else if (i.type.is_array() && i.type.ndim == 0)
        flat.push_back(element(i, {}));
      else if (i.type.is_array() && i.type.ndim == 1 && !i.lazy && constant_of(i.shape()[0])) {
        std::vector<Value> row;
        int64_t length = *constant_of(i.shape()[0]);
        for (int64_t k = 0; k < length; ++k) row.push_back(element(i, std::vector<Val>{ci(k)}));
        walk(row, depth + 1);
      } else
        not_yet(n, "an array from " + name(i.type));
    }
  };
  walk(items, 0);
  Type common;
  for (const Value& i : flat) {
    Type wider, own = i.type;
    own.weak = own.weak && !strong;
    if (!join(common, own, wider)) refuse_beyond();
    common = wider;
  }
  DType to = t ? *t : common.unknown() ? DType::F64 : common.dtype;
  std::vector<Val> extents;
  for (int64_t s : shape) extents.push_back(ci(s));
  Value r = allocate(to, extents);
  for (size_t k = 0; k < flat.size(); ++k)
    write_at(to, cast(n, flat[k], to).v[0], r.v[0], ci(static_cast<int64_t>(k) * itemsize(to)),
             ir::Space::Global);
  return r;
}

// np.array([x, y]) of arrays of one shape.
Value Lower::array_of_rows(const Node& n, const std::vector<Value>& rows, std::optional<DType> t) {
  Type common;
  for (const Value& r : rows) {
    Type wider;
    if (r.type.ndim != rows[0].type.ndim)
      fail(n, "rows of different dimensions: " + name(rows[0].type) + " and " + name(r.type));
    join(common, Type::number_of(r.type.dtype), wider);
    common = wider;
  }
  std::vector<Val> shape{ci(static_cast<int64_t>(rows.size()))};
  for (Val e : rows[0].shape()) shape.push_back(e);
  for (const Value& r : rows)
    for (size_t d = 0; d < r.type.ndim; ++d)
      when(b_->emit(Op::not_equal, DType::Bool, r.shape()[d], shape[d + 1]), [&] {
        raise_at(site(n, "ValueError",
                      "setting an array element with a sequence: rows of {0} and of {1} elements"),
                 shape[d + 1], r.shape()[d]);
      });
  Value all = allocate(t.value_or(common.dtype), shape);
  for (size_t k = 0; k < rows.size(); ++k)
    fill(n, view(n, all, {known_integer(static_cast<int64_t>(k))}), rows[k]);
  return all;
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

// The order of axes in which some stand at other positions, and the others around them.
static std::vector<int64_t> moved(std::vector<int64_t> source, std::vector<int64_t> target,
                                  int64_t nd) {
  std::vector<int64_t> order(static_cast<size_t>(nd), -1), rest;
  for (size_t k = 0; k < source.size(); ++k) order[static_cast<size_t>(target[k])] = source[k];
  for (int64_t d = 0; d < nd; ++d)
    if (std::ranges::find(source, d) == source.end()) rest.push_back(d);
  auto next = rest.begin();
  for (int64_t& axis : order)
    if (axis < 0) axis = *next++;
  return order;
}

void Lower::axis_not_known(const Node& n, const std::string& name, const Value& axis) {
  if (axis.type.is_integer())
    not_yet(n, "np." + name + "() with axes of run time", "numbers in the call");
  fail(n, "an axis is an integer; got " + frontend::name(axis.type));
}

// What `copy` says to np.array.
Lower::Copies Lower::copies_argument(const Node& n, const Value& copy) {
  if (copy.type.is(Type::Tag::None)) return Copies::Needed;
  if (!copy.type.is_number() || !copy.known) not_yet(n, "copy= that is not a constant");
  return copy.known->real() != 0 ? Copies::Always : Copies::Never;
}

Value Lower::converted_copy(const Node& n, const Value& a, DType t, Order order) {
  Value copy = lazy(t, a.shape(), [this, a, t, &n](std::span<const Val> at) {
    return cast(n, element(a, at), t);
  });
  copy.type.order = order;
  return materialise(n, copy);
}

// A view with its axes in another order.
Value Lower::permuted(const Node& n, const Value& given, const std::vector<int64_t>& axes) {
  Value a = given.lazy ? materialise(n, given) : given, r = a;
  size_t nd = a.type.ndim;
  std::vector<char> seen(nd, 0);
  bool same = true, reversed = true;
  if (axes.size() != nd) fail(n, "the axes do not match those of " + name(a.type));
  for (size_t d = 0; d < axes.size(); ++d) {
    int64_t from = axes[d] < 0 ? axes[d] + static_cast<int64_t>(nd) : axes[d];
    if (from < 0 || from >= static_cast<int64_t>(nd) || seen[from])
      fail(n, "the axes do not match those of " + name(a.type));
    seen[from] = 1;
    r.v[2 + d] = a.v[2 + from];
    r.v[2 + nd + d] = a.v[2 + nd + from];
    same = same && from == static_cast<int64_t>(d);
    reversed = reversed && from == static_cast<int64_t>(nd - 1 - d);
  }
  if (!same)
    r.type.order = reversed && a.type.order == Order::C   ? Order::F
                   : reversed && a.type.order == Order::F ? Order::C
                                                          : Order::Any;
  return r;
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

Value Lower::call_numpy(const Call& given, const std::string& name, bool& known) {
  const Node& n = given.n;
  static const std::unordered_set<std::string> kOfArray = {
      "zeros_like", "ones_like", "empty_like", "full_like", "real",  "imag",   "conj",
      "around",     "round",     "clip",       "where",     "angle", "squeeze"};
  Call c{n, given.args, given.keywords};
  if (kOfArray.contains(name))
    for (Value& a : c.args)
      if (a.type.is(Type::Tag::Tuple)) a = as_array(n, a);
  auto constant = [&](DType t, double v) {
    return from_scalar(is_float(t) || is_complex(t) ? Scalar::from_float(v)
                                                    : Scalar::from_int(static_cast<int64_t>(v)),
                       t, false);
  };
  auto filled = [&](DType t, std::span<const Val> shape, const Value& with) {
    if (with.type.is_array()) {
      if (u_.options.kernel)
        not_yet(n, "arrays that a kernel makes as it runs", "cuda.local.array(shape, dtype)");
      Value r = allocate(t, shape);
      fill(n, r, with);
      return r;
    }
    return lazy(t, shape, [this, t, with, &n](std::span<const Val>) { return cast(n, with, t); });
  };
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
  if (name == "zeros" || name == "ones" || name == "empty" || name == "full") {
    const Value* shape = c.get(0, "shape");
    if (!shape) fail(n, "np." + name + " needs a shape");
    bool is_full = name == "full";
    auto t = dtype_argument(c, is_full ? 2 : 1, "dtype");
    std::vector<Val> extents = shape_argument(n, *shape);
    if (name == "empty") {
      if (u_.options.kernel)
        not_yet(n, "arrays that a kernel makes as it runs", "cuda.local.array(shape, dtype)");
      return allocate(t.value_or(DType::F64), extents);
    }
    Value with = constant(t.value_or(DType::F64), name == "ones");
    if (is_full) {
      const Value* v = c.get(1, "fill_value");
      if (!v) fail(n, "np.full needs a fill value");
      with = *v;
      if (!t) t = v->type.dtype;
      with.type.weak = false;
    }
    return materialise(n, filled(t.value_or(DType::F64), extents, with));
  }
  if (name == "zeros_like" || name == "ones_like" || name == "empty_like" || name == "full_like") {
    if (c.args.empty()) fail(n, "np." + name + " needs an array");
    const Value a = as_array(n, c.args[0]);
    bool is_full = name == "full_like";
    DType t = dtype_argument(c, is_full ? 2 : 1, "dtype").value_or(a.type.dtype);
    std::vector<Val> extents(a.shape().begin(), a.shape().end());
    const Value* fill_value = is_full ? c.get(1, "fill_value") : nullptr;
    if (is_full && !fill_value) fail(n, "np.full_like needs a fill value");
    if (name == "empty_like") return allocate(t, extents, kept_order(a));
    Value with = is_full ? *fill_value : constant(t, name == "ones_like");
    with.type.weak = false;
    Value made = filled(t, extents, with);
    if (made.lazy) made.type.order = kept_order(a);
    return materialise(n, made);
  }
  if (name == "arange") {
    expect(c, name, 1, 4);
    Value start = known_integer(0), step = known_integer(1), stop = c.args[0];
    if (c.args.size() > 1) {
      start = c.args[0];
      stop = c.args[1];
    }
    if (c.args.size() > 2) step = c.args[2];
    for (const Value& v : {start, stop, step})
      if (!v.unknown() && v.type.is_array() && v.type.ndim > 0)
        fail(n, "np.arange takes numbers; got " + frontend::name(v.type));
    for (const Value& v : {start, stop, step})
      if (v.type.is_number() && is_complex(v.type.dtype))
        not_yet(n, "np.arange of complex numbers");
    auto t = dtype_argument(c, 3, "dtype");
    // NumPy asks the numbers for their types as it asks a list for its, of int64 at least.
    DType found = DType::I64;
    for (const Value& v : c.args)
      if (v.type.is_number()) found = promote(found, v.type.dtype);
    found = t.value_or(found);
    Value span = binary(n, Op::subtract, stop, start);
    Val count;
    if (is_float(span.type.dtype) || is_float(step.type.dtype)) {
      Value q = unary(
          n, Op::ceil,
          cast(n, binary_numbers(n, Op::divide, cast(n, span, DType::F64), step), DType::F64));
      Val length = as(q, DType::F64);
      auto raise = [&](Val condition, const char* text) {
        when(condition, [&] { raise_at(site(n, "ValueError", text)); }, {}, ir::kRare);
      };
      raise(b_->emit(Op::not_equal, DType::Bool, length, length), "arange: cannot compute length");
      auto bound = [&](double x) { return b_->constant(DType::F64, Scalar::from_float(x)); };
      raise(b_->emit(Op::logical_or, DType::Bool, less(bound(0x1p62), length),
                     less(length, bound(-0x1p63))),
            "Maximum allowed size exceeded");
      count = as(cast(n, q, DType::I64), DType::I64);
    } else {
      Val s = as(step, DType::I64);
      if (constant_of(s).value_or(0) == 0)
        when(
            b_->emit(Op::equal, DType::Bool, s, ci(0)),
            [&] { raise_at(site(n, "ZeroDivisionError", "division by zero")); }, {}, ir::kRare);
      Val up = less(ci(0), s);
      Val more = constant_of(s) == 1
                     ? as(span, DType::I64)
                     : add(as(span, DType::I64),
                           sub(s, b_->emit(Op::select, DType::I64, up, ci(1), ci(-1))));
      count = constant_of(s) == 1 ? more : b_->emit(Op::floor_divide, DType::I64, more, s);
    }
    count = b_->emit(Op::maximum, DType::I64, count, ci(0));
    return lazy(found, std::vector<Val>{count},
                [this, start, step, found, &n](std::span<const Val> at) {
                  Value i = cast(n, integer(at[0]), found);
                  return cast(n,
                              binary(n, Op::add, cast(n, start, found),
                                     binary(n, Op::multiply, i, cast(n, step, found))),
                              found);
                });
  }
  if (name == "linspace") {
    const Value* count = c.get(2, "num");
    Val num = count ? index_value(n, *count) : ci(50);
    // Of the ends' type, where they are floats of NumPy's, and computed in it.
    DType out = DType::F64;
    bool strong = false;
    for (const Value& end : {c.args.at(0), c.args.at(1)}) {
      if (!end.type.weak) out = strong ? promote(out, end.type.dtype) : end.type.dtype;
      strong = strong || !end.type.weak;
    }
    out = weak_result(out, Kind::Float);
    Value start = cast(n, c.args.at(0), out), stop = cast(n, c.args.at(1), out);
    const Value* endpoint = c.get(3, "endpoint");
    if (endpoint && !endpoint->known) not_yet(n, "np.linspace with an endpoint= of run time");
    bool ends = !endpoint || endpoint->known->real() != 0;
    Val steps = ends ? sub(num, ci(1)) : num;
    Value last = cast(n, integer(b_->emit(Op::maximum, DType::I64, steps, ci(1))), out);
    Value step = binary(n, Op::divide, binary(n, Op::subtract, stop, start), last);
    return lazy(out, std::vector<Val>{num},
                [this, start, stop, step, num, ends, out, &n](std::span<const Val> at) {
                  Value i = cast(n, integer(at[0]), out);
                  Value v = binary(n, Op::add, binary(n, Op::multiply, i, step), start);
                  if (!ends) return v;
                  // The last one is exact.
                  Val end = both(b_->emit(Op::equal, DType::Bool, at[0], sub(num, ci(1))),
                                 less(ci(1), num));
                  return choose(n, end, stop, v);
                });
  }
  if (name == "eye" || name == "identity") {
    Val rows = index_value(n, c.args.at(0));
    const Value* m = name == "eye" ? c.get(1, "M") : nullptr;
    Val columns = m && !m->type.is(Type::Tag::None) ? index_value(n, *m) : rows;
    DType t = dtype_argument(c, name == "eye" ? 3 : 1, "dtype").value_or(DType::F64);
    const Value* diagonal = name == "eye" ? c.get(2, "k") : nullptr;
    Val k = diagonal ? index_value(n, *diagonal) : ci(0);
    return lazy(t, std::vector<Val>{rows, columns}, [this, t, k](std::span<const Val> at) {
      Val on = b_->emit(Op::equal, DType::Bool, add(at[0], k), at[1]);
      return number(b_->emit(Op::cast, t, on), t);
    });
  }
  if (name == "array" || name == "asarray" || name == "ascontiguousarray") {
    if (c.args.empty()) fail(n, "np." + name + " needs a value");
    auto t = dtype_argument(c, 1, "dtype");
    const Value& a = c.args[0];
    // Whether a copy is made: always, never (then needing one is an error), or where it is needed.
    Copies copies = name == "array" ? Copies::Always : Copies::Needed;
    if (const Value* copy = c.keyword("copy")) copies = copies_argument(n, *copy);
    auto made = [&](Value v) {
      if (copies == Copies::Never)
        when(b_->constant(DType::Bool, Scalar::from_bool(true)), [&] {
          raise_at(
              site(n, "ValueError", "Unable to avoid copy while creating an array as requested."));
        });
      return v;
    };
    if (a.type.is(Type::Tag::Tuple)) {
      bool rows = !a.items.empty();
      for (const Value& i : a.items) rows = rows && i.type.is_array() && i.type.ndim;
      if (rows && (!is_plain_list(a.items[0]) || a.items[0].type.ndim != 1))
        return made(array_of_rows(n, a.items, t));
      return made(from_items(n, a.items, t, true));
    }
    if (a.type.is_number()) {
      Value v = a;
      DType to = t.value_or(a.type.dtype);
      return made(materialise(n, filled(to, {}, v)));
    }
    if (a.type.is(Type::Tag::List) && a.type.items[0].is(Type::Tag::List)) {
      Value rows = call_function({n, {a}, {}}, u_.program.library("array of lists"));
      return rows.unknown() || !t || *t == rows.type.dtype ? made(rows)
                                                           : made(converted_copy(n, rows, *t));
    }
    if (!a.type.is_array()) not_yet(n, "an array from " + frontend::name(a.type));
    if (name == "ascontiguousarray" && a.type.ndim == 0) {
      Call line{n, c.args, c.keywords};
      line.args[0] = reshape(n, a, {known_integer(1)});
      return call_numpy(line, name, known);
    }
    const bool same_type = !t || *t == a.type.dtype;
    if (copies != Copies::Always && !a.lazy && a.type.text != "list" && same_type)
      return name == "ascontiguousarray" ? dense(n, a) : a;
    Value copy = converted_copy(n, a, t.value_or(a.type.dtype),
                                name == "ascontiguousarray" ? Order::C : kept_order(a));
    return a.lazy && same_type ? copy : made(copy);
  }
  if (name == "where" && c.args.size() == 3) {
    for (const Value& a : c.args)
      if (a.unknown()) return {};
    bool arrays = false;
    for (const Value& a : c.args) arrays = arrays || a.type.is_array();
    if (!arrays) return choose(n, truth(n, c.args[0]), c.args[1], c.args[2], true);
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
  if (name == "clip") {
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
    return out ? *out : v;
  }
  if (name == "round" || name == "around" || name == "rint") {
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
  if (name == "result_type" || name == "promote_types") {
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
  if (name == "can_cast") {
    const Value* rule = c.get(2, "casting");
    auto from = dtype_argument(c, 0, "from_"), to = dtype_argument(c, 1, "to");
    if (from && to)
      return from_scalar(Scalar::from_int(numbus::can_cast(
                             *from, *to, rule ? casting_argument(n, *rule) : Casting::Safe)),
                         DType::Bool, true);
    fail(n, "np.can_cast() needs two types and a rule", "np.can_cast(a.dtype, np.float32, 'safe')");
  }
  if (name == "dtype") {
    auto t = dtype_argument(c, 0, "dtype");
    Value r;
    r.type = Type::of(Type::Tag::DType);
    r.type.dtype = t.value_or(DType::F64);
    return r;
  }
  if (name == "finfo" || name == "iinfo") {
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
  if (name == "transpose" && c.args.size() == 1 && c.keywords.empty())
    return transpose(as_array(n, c.args[0]));
  if (name == "transpose" || name == "swapaxes" || name == "moveaxis") {
    if (c.args.empty() || !c.args[0].type.is_array()) fail(n, "np." + name + " needs an array");
    int64_t nd = c.args[0].type.ndim;
    std::vector<Value> given(c.args.begin() + 1, c.args.end());
    static const std::unordered_map<std::string, std::vector<std::string>> kWords = {
        {"transpose", {"axes"}},
        {"swapaxes", {"axis1", "axis2"}},
        {"moveaxis", {"source", "destination"}}};
    for (const std::string& word : kWords.at(name))
      if (const Value* v = c.keyword(word)) given.push_back(*v);
    if (given.size() == 1 && given[0].type.is(Type::Tag::Tuple)) {
      Value t = given[0];
      given = t.items;
    }
    std::vector<int64_t> axes;
    if (name == "moveaxis" && given.size() == 2 && given[0].type.is(Type::Tag::Tuple) &&
        given[1].type.is(Type::Tag::Tuple)) {
      std::vector<int64_t> ends[2];
      for (int k = 0; k < 2; ++k)
        for (const Value& v : given[static_cast<size_t>(k)].items) {
          const auto axis = known_int(v);
          if (!axis) axis_not_known(n, name, v);
          if (*axis < -nd || *axis >= nd) fail(n, "np.moveaxis of axes that the array has not");
          ends[k].push_back(*axis < 0 ? *axis + nd : *axis);
          if (std::ranges::count(ends[k], ends[k].back()) > 1) fail(n, "np.moveaxis of equal axes");
        }
      if (ends[0].size() != ends[1].size()) fail(n, "np.moveaxis needs as many axes of each");
      return permuted(n, c.args[0], moved(ends[0], ends[1], nd));
    }
    for (const Value& v : given) {
      auto k = known_int(v);
      if (!k) axis_not_known(n, name, v);
      axes.push_back(*k < 0 ? *k + nd : *k);
    }
    if (name != "transpose") {
      bool two =
          axes.size() == 2 && std::min(axes[0], axes[1]) >= 0 && std::max(axes[0], axes[1]) < nd;
      if (!two) fail(n, "np." + name + " takes an array and two of its axes");
      int64_t a = axes[0], b = axes[1];
      axes.resize(static_cast<size_t>(nd));
      for (int64_t d = 0; d < nd; ++d) axes[d] = d;
      if (name == "swapaxes") {
        std::swap(axes[a], axes[b]);
      } else {
        axes.erase(axes.begin() + a);
        axes.insert(axes.begin() + b, a);
      }
    }
    return permuted(n, c.args[0], axes);
  }
  if (name == "broadcast_to") {
    expect(c, "np.broadcast_to", 1, 2);
    const Value* to = c.get(1, "shape");
    if (!to) fail(n, "np.broadcast_to needs a shape");
    std::vector<Val> shape = shape_argument(n, *to);
    Value a = as_array(n, c.args[0]);
    if (a.lazy) a = materialise(n, a);
    if (a.type.ndim > shape.size()) fail(n, "np.broadcast_to cannot drop dimensions");
    size_t skip = shape.size() - a.type.ndim;
    Value r = a;
    r.type.ndim = static_cast<uint8_t>(shape.size());
    r.type.order = Order::Any;
    r.type.readonly = true;
    r.v = {a.v[0], a.v[1]};
    r.v.insert(r.v.end(), shape.begin(), shape.end());
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d < skip) {
        r.v.push_back(ci(0));
        continue;
      }
      Val mine = a.shape()[d - skip], same = b_->emit(Op::equal, DType::Bool, mine, shape[d]);
      Val one = b_->emit(Op::equal, DType::Bool, mine, ci(1));
      when(negate(b_->emit(Op::logical_or, DType::Bool, same, one)), [&] {
        raise_at(site(n, "ValueError", "cannot broadcast an extent of {0} to {1}"), mine, shape[d]);
      });
      r.v.push_back(b_->emit(Op::select, DType::I64, same, a.strides()[d - skip], ci(0)));
    }
    return r;
  }
  if ((name == "diag" || name == "diagonal") && !c.args.empty() && c.args[0].type.is_array() &&
      c.args[0].type.ndim == 2 && c.args.size() + c.keywords.size() <= 2) {
    const Value* offset = c.get(1, name == "diag" ? "k" : "offset");
    if (offset || c.keywords.empty()) {
      // A view that cannot be written to, as in NumPy.
      Value a = c.args[0].lazy ? materialise(n, c.args[0]) : c.args[0];
      Val k = offset ? index_value(n, *offset) : ci(0), zero = ci(0);
      Val right = b_->emit(Op::maximum, DType::I64, k, zero);
      Val down = b_->emit(Op::maximum, DType::I64, sub(zero, k), zero);
      Val count =
          b_->emit(Op::minimum, DType::I64, sub(a.shape()[0], down), sub(a.shape()[1], right));
      count = b_->emit(Op::maximum, DType::I64, count, zero);
      Val first = add(mul(down, a.strides()[0]), mul(right, a.strides()[1]));
      first = b_->emit(Op::select, DType::I64, less(zero, count), first, zero);
      Value r = a;
      r.v = {add(a.v[0], first), a.v[1], count, add(a.strides()[0], a.strides()[1])};
      r.type.ndim = 1;
      r.type.order = Order::Any;
      r.type.aligned = false;
      r.type.readonly = true;
      return r;
    }
  }
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
  if (name == "shape" || name == "size" || name == "ndim") {
    expect(c, "np." + name, 1, name == "size" ? 2 : 1);
    if (c.args.size() == 2 || !c.keywords.empty())
      not_yet(n, "np." + name + " with an axis", "a.shape[axis]");
    Value v = c.args[0];
    if (v.type.is_number())
      v.type.weak = false;  // Python's own has no attributes of arrays
    else
      v = as_array(n, v);
    return v.unknown() ? v : attribute_of(n, v, name);
  }
  known = false;
  return {};
}

}  // namespace numbus::frontend
