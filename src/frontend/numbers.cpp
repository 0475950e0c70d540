// Arithmetic: NumPy's rows under NumPy 2's rules of promotion, where Python's own numbers are weak.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::from_scalar(const Scalar& s, DType t, bool weak) {
  Value v = number(b_->constant(t, s), t, weak);
  v.known = s;
  return v;
}
Value Lower::known_integer(int64_t n) { return from_scalar(Scalar::from_int(n), DType::I64, true); }

std::optional<int64_t> Lower::known_int(const Value& v) {
  if (!v.type.is_integer() || is_beyond(v.type)) return {};
  if (v.known) return static_cast<int64_t>(v.known->i);
  if (v.v.empty()) return {};
  const ir::Inst& i = b_->step(v.v[0]);
  if (i.op == Op::constant && i.type == DType::I64) return i.imm;
  asks_for(v);
  return {};
}

// Whether this is a number of Python's from 2**63 on: a constant, which no int of ours holds.
bool Lower::is_beyond(const Type& t) { return t.is_number() && t.weak && t.dtype == DType::U64; }

void Lower::refuse_beyond() {
  not_yet(here_ ? *here_ : source_.definition, "Python's ints from 2**63 on", "np.uint64(…) of it");
}

Val Lower::as(const Value& v, DType t) {
  if (v.unknown()) return b_->constant(t, Scalar::from_int(0));
  if (is_beyond(v.type) && numbus::is_integer(t) && is_signed(t)) refuse_beyond();
  if (v.known && v.known->kind <= Kind::Complex) {
    // A literal is a constant of the type at once.
    Scalar s = *v.known;
    if (numbus::is_integer(t) && s.kind == Kind::Float) return b_->cast(v.v[0], t);
    if (is_float(t) || is_complex(t))
      return b_->constant(t, is_complex(t) ? Scalar::from_complex(s.real(), s.imag())
                                           : Scalar::from_float(s.real()));
    if (numbus::is_integer(t) && s.kind <= Kind::UInt) return b_->constant(t, s);
  }
  return b_->cast(v.v[0], t);
}

Value Lower::cast(const Node& n, const Value& v, DType t, bool weak) {
  if (v.unknown()) return {};
  if (v.type.is_array()) {
    Value a = v;
    return elementwise(t, v.shape(), {&a, 1}, [this, a, t, &n](std::span<const Val> at) {
      return cast(n, element(a, at), t);
    });
  }
  if (!v.type.is_number())
    fail(n, "cannot convert " + name(v.type) + " to " + std::string(numbus::name(t)));
  if (is_complex(v.type.dtype) && !is_complex(t) && t != DType::Bool) {
    // NumPy's numbers lose their imaginary part there, with a warning; Python's refuse.
    std::string what = "cannot convert complex to " + std::string(numbus::name(t));
    if (v.type.weak) fail(n, what, "use .real or abs()");
    not_yet(n, what, "use .real or abs()");
  }
  Value r = number(as(v, t), t, weak);
  if (v.known) {
    Scalar s = converted(*v.known, t);
    // What a float beyond an integer's range becomes is the processor's to say.
    bool beyond = numbus::is_integer(t) && v.known->kind >= Kind::Float &&
                  s.real() != std::trunc(v.known->real());
    if (!beyond) r.known = s;
  }
  return r;
}

// int(): what int64 cannot hold raises, where something can be raised.
Value Lower::python_int(const Node& n, const Value& v, DType to) {
  if (!v.unknown() && v.type.is_number() && !v.type.weak && v.type.dtype == DType::U64 &&
      to == DType::I64 && raises_of_numbers() && !scope_->source->library()) {
    const Val whole = b_->cast(as(v, DType::U64), to);
    when(
        less(whole, ci(0)),
        [&] {
          raise_at(site(n, "OverflowError", "a uint64 beyond int64, which is what int is here"));
        },
        {}, ir::kRare);
    Value r = number(whole, to, true);
    if (v.known && v.known->u <= INT64_MAX) r.known = converted(*v.known, to);
    return r;
  }
  if (v.unknown() || !v.type.is_number() || !is_float(v.type.dtype) || !raises_of_numbers() ||
      scope_->source->library())
    return cast(n, v, to, true);
  DType t = computed_in(v.type.dtype);
  const bool is_signed = to == DType::I64;
  Val x = as(v, t), size = b_->emit(Op::absolute, t, x);
  auto is = [&](Op op, Val y, double z) {
    return b_->emit(op, DType::Bool, y, b_->constant(t, Scalar::from_float(z)));
  };
  // One comparison where all is well; the least integer, of the size that fails, is told by
  // another.
  auto raise = [&] {
    auto finite = [&] {
      when(b_->emit(Op::not_equal, DType::Bool, x, x),
           [&] { raise_at(site(n, "ValueError", "cannot convert float NaN to integer")); });
      when(is(Op::equal, size, INFINITY),
           [&] { raise_at(site(n, "OverflowError", "cannot convert float infinity to integer")); });
      raise_at(site(
          n, "OverflowError",
          is_signed ? "a float beyond int64, which is what int is here" : "a float beyond uint64"));
    };
    if (!is_signed) return finite();
    when(is(Op::not_equal, x, -0x1p63), finite);
  };
  when(negate(is(Op::less, size, is_signed ? 0x1p63 : 0x1p64)), raise, {}, ir::kRare);
  if (!is_signed) {
    // Negative numbers wrap, as ints that meet an unsigned type do.
    Val low = b_->cast(b_->cast(x, DType::I64), to), high = b_->cast(x, to);
    Val v = b_->emit(Op::select, to, is(Op::less, x, 0x1p63), low, high);
    return number(v, to, true);
  }
  Value r = number(b_->emit(Op::cast, DType::I64, x, ir::kNone, ir::kNone, 1), DType::I64, true);
  if (v.known && std::abs(v.known->real()) < 0x1p63) r.known = converted(*v.known, DType::I64);
  return r;
}

// NumPy's integer of a Python float is that of int() of it; other values are cast.
Value Lower::numpy_number(const Node& n, const Value& v, DType t) {
  bool python_float = v.type.is_number() && v.type.weak && is_float(v.type.dtype);
  if (!python_float || !numbus::is_integer(t) || t == DType::Bool) return cast(n, v, t);
  return cast(n, python_int(n, v, t == DType::U64 ? t : DType::I64), t);
}

Val Lower::index_value(const Node& n, const Value& v) {
  if (v.unknown()) return ci(0);
  if (!v.type.is_integer() || (v.type.dtype == DType::Bool && !v.type.weak))
    fail(n, "an index has to be an integer; this is " + name(v.type), "convert it with int(…)");
  return as(v, DType::I64);
}

Val Lower::truth(const Node& n, const Value& v) {
  if (v.unknown()) return b_->constant(DType::Bool, Scalar::from_bool(false));
  switch (v.type.tag) {
    case Type::Tag::Number:
      if (is_complex(v.type.dtype)) return b_->cast(v.v[0], DType::Bool);
      return v.type.dtype == DType::Bool
                 ? v.v[0]
                 : b_->emit(Op::not_equal, DType::Bool, v.v[0],
                            b_->constant(v.type.dtype, Scalar::from_int(0)));
    case Type::Tag::None: return b_->constant(DType::Bool, Scalar::from_bool(false));
    case Type::Tag::Object: return truth_of_object(n, v);
    case Type::Tag::Maybe: return if_there(v, [&](const Value& value) { return truth(n, value); });
    case Type::Tag::Tuple: return b_->constant(DType::Bool, Scalar::from_bool(!v.items.empty()));
    case Type::Tag::List: return less(ci(0), list_length(v));
    case Type::Tag::String: return less(ci(0), string_length(v));
    case Type::Tag::Dict: return less(ci(0), dict_length(v));
    case Type::Tag::Array:
      if (v.type.ndim == 0) return truth(n, element(v, {}));
      if (is_plain_list(v)) return less(ci(0), v.shape()[0]);
      // One of a single element has one, which only a run can say.
      not_yet(n, "the truth value of an array, which is ambiguous; got " + name(v.type),
              "use .any() or .all()");
    case Type::Tag::Text: return b_->constant(DType::Bool, Scalar::from_bool(!v.type.text.empty()));
    default: fail(n, name(v.type) + " has no truth value");
  }
}

const char* Lower::python_operator(Op op) {
  switch (op) {
    case Op::invert: return "~";
    case Op::negative:
    case Op::positive: return op == Op::negative ? "-" : "+";
    case Op::equal: return "==";
    case Op::not_equal: return "!=";
    case Op::less: return "<";
    case Op::less_equal: return "<=";
    case Op::greater: return ">";
    case Op::greater_equal: return ">=";
    case Op::add: return "+";
    case Op::subtract: return "-";
    case Op::multiply: return "*";
    case Op::divide: return "/";
    case Op::floor_divide: return "//";
    case Op::remainder: return "%";
    case Op::power: return "**";
    case Op::left_shift: return "<<";
    case Op::right_shift: return ">>";
    case Op::bitwise_and: return "&";
    case Op::bitwise_or: return "|";
    case Op::bitwise_xor: return "^";
    default: return nullptr;
  }
}

std::string Lower::what_works(Op op) {
  const char* symbol = python_operator(op);
  return symbol ? std::string("operator ") + symbol : std::string(op_name(op));
}

namespace {

// np.float64 is a class of Python's floats: an operator of Python's complex takes one for such a
// float, where Python's other numbers leave the operation to NumPy.
bool taken_for_python(Op op, const Type& a, const Type& b) {
  static constexpr Op kOfComplex[] = {Op::add,   Op::subtract, Op::multiply, Op::divide,
                                      Op::power, Op::equal,    Op::not_equal};
  return a.weak && is_complex(a.dtype) && !b.weak && b.dtype == DType::F64 &&
         std::ranges::find(kOfComplex, op) != std::end(kOfComplex);
}

std::optional<Scalar> folded(Op op, const Scalar& a, const Scalar& b) {
  if (a.kind == Kind::UInt || b.kind == Kind::UInt) return {};  // from 2**63 on
  if (a.is_real_integer() && b.is_real_integer()) {
    int64_t x = a.i, y = b.i, r;
    switch (op) {
      case Op::add:
        return __builtin_add_overflow(x, y, &r) ? std::nullopt : std::optional(Scalar::from_int(r));
      case Op::subtract:
        return __builtin_sub_overflow(x, y, &r) ? std::nullopt : std::optional(Scalar::from_int(r));
      case Op::multiply:
        return __builtin_mul_overflow(x, y, &r) ? std::nullopt : std::optional(Scalar::from_int(r));
      case Op::floor_divide:
        if (y == 0 || y == -1) return {};
        return Scalar::from_int(x / y - (x % y != 0 && (x < 0) != (y < 0)));
      case Op::remainder:
        if (y == 0 || y == -1) return {};
        return Scalar::from_int(x - y * (x / y - (x % y != 0 && (x < 0) != (y < 0))));
      case Op::left_shift:
        if (y < 0 || y > 62 || x < 0 || x >> (62 - y)) return {};
        return Scalar::from_int(x << y);
      case Op::right_shift:
        return y < 0 || y > 63 ? std::nullopt : std::optional(Scalar::from_int(x >> y));
      case Op::less: return Scalar::from_bool(x < y);
      case Op::less_equal: return Scalar::from_bool(x <= y);
      case Op::greater: return Scalar::from_bool(x > y);
      case Op::greater_equal: return Scalar::from_bool(x >= y);
      case Op::equal: return Scalar::from_bool(x == y);
      case Op::not_equal: return Scalar::from_bool(x != y);
      case Op::divide:
        return y == 0 ? std::nullopt
                      : std::optional(
                            Scalar::from_float(static_cast<double>(x) / static_cast<double>(y)));
      default: return {};
    }
  }
  if (a.kind > Kind::Float || b.kind > Kind::Float) return {};
  double x = a.real(), y = b.real();
  switch (op) {
    case Op::add: return Scalar::from_float(x + y);
    case Op::subtract: return Scalar::from_float(x - y);
    case Op::multiply: return Scalar::from_float(x * y);
    case Op::divide: return y == 0 ? std::nullopt : std::optional(Scalar::from_float(x / y));
    case Op::less: return Scalar::from_bool(x < y);
    case Op::less_equal: return Scalar::from_bool(x <= y);
    case Op::greater: return Scalar::from_bool(x > y);
    case Op::greater_equal: return Scalar::from_bool(x >= y);
    case Op::equal: return Scalar::from_bool(x == y);
    case Op::not_equal: return Scalar::from_bool(x != y);
    default: return {};
  }
}

}  // namespace

// What Python's operators do. NumPy's x ** 2 and x ** 0.5 of arrays are other functions than
// np.power: squares of bools are int8, and zeros of complex numbers have other signs.
Value Lower::operation(const Node& n, Op op, const Value& given_a, const Value& given_b) {
  auto shown = [](const Value& v) {
    return v.type.is_maybe() ? "'NoneType'" : "'" + name(v.type) + "'";
  };
  const std::string message = std::string("unsupported operand type(s) for ") +
                              (python_operator(op) ? python_operator(op) : "the operator") + ": " +
                              shown(given_a) + " and " + shown(given_b);
  const Value a = some(n, given_a, message), b = some(n, given_b, message);
  if (a.unknown() || b.unknown()) return {};
  const bool array = a.type.is_array() && a.type.ndim && !is_plain_list(a);
  if (op == Op::power && array && b.type.is_number() && b.known && b.known->imag() == 0) {
    const double e = b.known->real();
    if (a.type.dtype == DType::Bool && b.type.weak && b.type.dtype == DType::I64 && e == 2)
      return cast(n, a, DType::I8);
    if (is_complex(a.type.dtype) && e == 2) return unary(n, Op::square, a);
    const bool rooted = is_complex(a.type.dtype) || (is_float(a.type.dtype) && b.type.weak);
    if (rooted && e == 0.5) return unary(n, Op::sqrt, a);
  }
  return binary(n, op, a, b);
}

Value Lower::binary(const Node& n, Op op, const Value& a, const Value& b) {
  if (a.unknown() || b.unknown()) return {};
  if (a.type.is(Type::Tag::Object) || b.type.is(Type::Tag::Object))
    return binary_of_object(n, op, a, b);
  if (a.type.is_text() && op == Op::remainder) return binary_text(n, op, a, b);
  if (a.type.is(Type::Tag::Dict) || b.type.is(Type::Tag::Dict)) return binary_dicts(n, op, a, b);
  if (a.type.is(Type::Tag::List) || b.type.is(Type::Tag::List)) {
    for (const Value* v : {&a, &b})
      if (v->type.is(Type::Tag::List) && !v->type.items[0].is_number()) {
        if (v->type.items[0].unknown()) return {};
        return binary_lists(n, op, a, b);
      }
    // Sums and multiples of lists are made at once, other operators' elements later.
    auto list = [](const Value& v) { return v.type.is(Type::Tag::List) || is_plain_list(v); };
    bool once = (list(a) || a.type.is_integer()) && (list(b) || b.type.is_integer());
    return once ? binary(n, op, plain(a), plain(b)) : binary(n, op, copied(n, a), copied(n, b));
  }
  bool list_a = is_plain_list(a), list_b = is_plain_list(b);
  if (list_a && list_b && op == Op::add) return join_lists(n, a, b);
  if (list_a && b.type.is_integer() && op == Op::multiply) return repeat_list(n, a, b);
  if (list_b && a.type.is_integer() && op == Op::multiply) return repeat_list(n, b, a);
  // A list is an array to NumPy's numbers and arrays only.
  auto pythons = [](const Value& v, bool list) {
    return list || v.type.is(Type::Tag::Tuple) || (v.type.is_number() && v.type.weak);
  };
  auto no_count = [&](const Value& v) { return v.type.is_number() && op == Op::multiply; };
  if ((list_a && (pythons(b, list_b) || no_count(b))) ||
      (list_b && (pythons(a, list_a) || no_count(a)))) {
    const bool lists = (list_a || a.type.listed) && (list_b || b.type.listed);
    if (lists && (op == Op::add || row(op).rule == Rule::Compare))
      not_yet(n, "sums and comparisons of lists with items of different types");
    auto shown = [](const Value& v, bool list) { return list ? "list" : name(v.type); };
    fail(n, what_works(op) + " does not work on " + shown(a, list_a) + " and " + shown(b, list_b));
  }
  if (b.type.is(Type::Tag::Tuple) && a.type.is_integer() && op == Op::multiply)
    return binary(n, op, b, a);
  // With a number of NumPy's, anything else of a tuple is of its items.
  for (auto [v, other] : {std::pair{&a, &b}, std::pair{&b, &a}})
    if (v->type.is(Type::Tag::Tuple) && v->type.text.empty() && other->type.is_number() &&
        !other->type.weak && op != Op::multiply) {
      Value of_items = as_array(n, *v);
      return v == &a ? binary(n, op, of_items, b) : binary(n, op, a, of_items);
    }
  auto others = [](const Value& v) { return v.type.is(Type::Tag::Range) || v.type.is_text(); };
  if ((a.type.is_array() || b.type.is_array()) && !others(a) && !others(b)) {
    std::vector<Value> both{a, b};
    for (Value& v : both)
      if (v.type.is(Type::Tag::Tuple)) v = as_array(n, v);
    if (op == Op::power && raises_of_numbers()) expect_exponents(n, both[0], both[1]);
    return apply(n, op, both);
  }
  if (a.type.is_number() && b.type.is_number()) {
    if (!taken_for_python(op, a.type, b.type)) return binary_numbers(n, op, a, b);
    Value plain_float = b;
    plain_float.type.weak = true;
    return binary_numbers(n, op, a, plain_float);
  }
  if (a.type.is(Type::Tag::Tuple) && b.type.is(Type::Tag::Tuple) && op == Op::add &&
      a.type.listed == b.type.listed) {
    Value r;
    r.type = Type::of(Type::Tag::Tuple);
    r.type.listed = a.type.listed;
    for (const Value* v : {&a, &b})
      for (const Value& i : v->items) {
        r.items.push_back(i);
        r.type.items.push_back(i.type);
      }
    return r;
  }
  if (a.type.is(Type::Tag::Tuple) && op == Op::multiply) {
    if (auto times = known_int(b)) {
      constexpr int64_t kMost = 1 << 12;  // items, each of which is code of its own
      if (!a.items.empty() && *times > kMost / static_cast<int64_t>(a.items.size()))
        not_yet(n, "a tuple of more than " + std::to_string(kMost) + " items", "an array");
      Value r;
      r.type = Type::of(Type::Tag::Tuple);
      r.type.listed = a.type.listed;
      for (int64_t k = 0; k < *times; ++k)
        for (const Value& i : a.items) {
          r.items.push_back(i);
          r.type.items.push_back(i.type);
        }
      return r;
    }
  }
  if (a.type.is_text() || b.type.is_text()) return binary_text(n, op, a, b);
  if (a.type.listed && op == Op::multiply && b.type.is_integer() && !u_.options.kernel) {
    const Value list = boxed(n, a);
    if (list.type.is(Type::Tag::List) || list.unknown()) return binary(n, op, list, b);
  }
  if (a.type.is(Type::Tag::Tuple) && op == Op::multiply && b.type.is_integer())
    not_yet(n, "a tuple as often as is known at run time", "a list, or an array");
  if (a.type.is(Type::Tag::Range) || b.type.is(Type::Tag::Range))
    not_yet(n, "operators on a range", "np.arange(n)");
  fail(n, what_works(op) + " does not work on " + name(a.type) + " and " + name(b.type));
}

namespace {

// Whether a number is known to be one of that type.
bool fits(const Value& v, DType t) {
  if (!v.known || v.known->kind > Kind::Int) return itemsize(t) == 8 && is_signed(t);
  int bits = 8 * itemsize(t);
  int64_t n = v.known->i;
  if (t == DType::Bool) return n == 0 || n == 1;
  if (is_signed(t)) return bits == 64 || (n >> (bits - 1)) == 0 || (n >> (bits - 1)) == -1;
  return n >= 0 && (bits == 64 || n >> bits == 0);
}

}  // namespace

// An int of Python's beside integers of NumPy's has to be one of their type.
void Lower::require_fits(const Node& n, Op op, const Value& python, DType t) {
  const Rule rule = row(op).rule;
  const bool as_floats = rule == Rule::Divide || rule == Rule::Float ||
                         rule == Rule::FloatComplex || rule == Rule::FloatPower;
  if (!of_user() || u_.options.kernel || as_floats || rule == Rule::Compare ||
      rule == Rule::Logical || !numbus::is_integer(t) || t == DType::Bool ||
      python.type.dtype != DType::I64 || fits(python, t))
    return;
  const Val x = as(python, DType::I64);
  auto raise = [&] {
    raise_at(site(n, "OverflowError",
                  "Python integer {0} out of bounds for " + std::string(numbus::name(t))),
             x);
  };
  if (python.known) return raise();
  Val beyond = less(x, ci(is_signed(t) ? lowest_number(t).i : 0));
  if (t != DType::U64)
    beyond = b_->emit(Op::logical_or, DType::Bool, beyond, less(ci(highest_number(t).i), x));
  when(beyond, raise, {}, ir::kRare);
}

// By value, whatever the types: only uint64 and what may be negative have no type in common.
Value Lower::compare_integers(Op op, const Value& a, const Value& b, bool weak) {
  auto plain = [&](const Value& x, const Value& y) {
    return b_->emit(op, DType::Bool, as(x, DType::I64), as(y, DType::I64));
  };
  bool unsigned_a = a.type.dtype == DType::U64, unsigned_b = b.type.dtype == DType::U64;
  if (!unsigned_a && !unsigned_b) return number(plain(a, b), DType::Bool, weak);
  if (unsigned_a && unsigned_b)
    return number(b_->emit(op, DType::Bool, as(a, DType::U64), as(b, DType::U64)), DType::Bool,
                  weak);
  // A negative number is less than any of uint64.
  const Value& other = unsigned_a ? b : a;
  Val same = b_->emit(op, DType::Bool, as(a, DType::U64), as(b, DType::U64));
  if (kind(other.type.dtype) == Kind::UInt || other.type.dtype == DType::Bool)
    return number(same, DType::Bool, weak);
  Val negative = less(as(other, DType::I64), ci(0));
  Val below = plain(unsigned_a ? known_integer(0) : known_integer(-1),
                    unsigned_a ? known_integer(-1) : known_integer(0));
  return number(b_->emit(Op::select, DType::Bool, negative, below, same), DType::Bool, weak);
}

Value Lower::binary_numbers(const Node& n, Op op, const Value& a, const Value& b) {
  bool weak = a.type.weak && b.type.weak;
  DType ta = a.type.dtype, tb = b.type.dtype;
  if (weak && row(op).rule != Rule::Compare && op != Op::divide &&
      (is_beyond(a.type) || is_beyond(b.type)) && numbus::is_integer(ta) && numbus::is_integer(tb))
    refuse_beyond();
  bool logical = op == Op::bitwise_and || op == Op::bitwise_or || op == Op::bitwise_xor ||
                 row(op).rule == Rule::Compare || row(op).rule == Rule::Logical;
  if (weak && !logical) {
    // Python's bool counts as an int.
    if (ta == DType::Bool) ta = DType::I64;
    if (tb == DType::Bool) tb = DType::I64;
  } else if (a.type.weak != b.type.weak) {
    // In comparisons and elsewhere Python's number takes the other's type, kinds allowing.
    if (a.type.weak)
      ta = weak_result(tb, kind(ta));
    else
      tb = weak_result(ta, kind(tb));
  }
  bool shifts = op == Op::left_shift || op == Op::right_shift;
  if (shifts && (is_inexact(ta) || is_inexact(tb)))
    fail(n, std::string("operator ") + python_operator(op) + " needs integers; got " +
                name(a.type) + " and " + name(b.type));
  // Integers are compared as what they are: the Python number may not fit into the other's type.
  if (row(op).rule == Rule::Compare && a.type.is_integer() && b.type.is_integer() && ta != tb)
    return compare_integers(op, a, b, weak);
  if (row(op).rule == Rule::Compare && a.type.is_integer() && b.type.is_integer() &&
      a.type.weak != b.type.weak) {
    const Value &python = a.type.weak ? a : b, &other = a.type.weak ? b : a;
    if (python.type.dtype == DType::I64 && !fits(python, other.type.dtype))
      return compare_integers(op, a, b, weak);
  }
  // A known number that the other's type cannot hold is NumPy's error.
  if (a.type.weak != b.type.weak) {
    const Value &python = a.type.weak ? a : b, &other = a.type.weak ? b : a;
    if (python.known) require_fits(n, op, python, other.type.dtype);
  }
  Resolved r;
  try {
    DType operands[] = {ta, tb};
    r = resolve(op, operands);
  } catch (const Error& e) {
    const char* symbol = python_operator(op);
    fail(n, (symbol ? std::string("operator ") + symbol : std::string(op_name(op))) +
                " does not work on " + name(a.type) + " and " + name(b.type));
  }
  // In Python an int to a known negative power is a float.
  if (op == Op::power && weak && numbus::is_integer(r.out)) {
    if (auto e = known_int(b); e && *e < 0)
      r = {op, {DType::F64, DType::F64, DType::F64}, DType::F64};
  }
  Val x = as(a, r.in[0]), y = as(b, r.in[1]);
  bool divides = op == Op::divide || op == Op::floor_divide || op == Op::remainder;
  bool may_be_zero = !b.known || (b.known->real() == 0 && b.known->imag() == 0);
  auto count = known_int(b);
  if (shifts && weak && raises_of_numbers() && (count ? *count < 0 : b.type.dtype != DType::Bool))
    when(less(y, ci(0)), [&] { raise_at(site(n, "ValueError", "negative shift count")); });
  if (divides && weak && raises_of_numbers() && may_be_zero) {
    when(is_zero(y, r.in[1]), [&] { raise_at(site(n, "ZeroDivisionError", "division by zero")); });
  }
  if (op == Op::power && weak && is_inexact(r.out) && raises_of_numbers() &&
      !(b.known && b.known->real() >= 0 && b.known->imag() == 0)) {
    bool complex = is_complex(r.out);
    DType part = real_of(r.out);
    Val exponent = complex ? b_->emit(Op::real_part, part, y) : y;
    Val zero = b_->constant(part, Scalar::from_int(0));
    Val negative = less(exponent, zero);
    if (complex) {
      Val imaginary = b_->emit(Op::imag_part, part, y);
      negative = b_->emit(Op::logical_or, DType::Bool, negative,
                          b_->emit(Op::not_equal, DType::Bool, imaginary, zero));
    } else {
      Val none = b_->constant(part, Scalar::from_float(-INFINITY));
      negative = both(negative, b_->emit(Op::not_equal, DType::Bool, exponent, none));
    }
    when(both(is_zero(x, r.out), negative), [&] {
      raise_at(site(n, "ZeroDivisionError",
                    complex ? "0.0 to a negative or complex power"
                            : "0.0 cannot be raised to a negative power"));
    });
  }
  // There Python's result is complex.
  bool fractional = !b.known || std::trunc(b.known->real()) != b.known->real();
  bool negative = !a.known || a.known->real() < 0;
  if (op == Op::power && weak && is_float(r.out) && raises_of_numbers() && fractional && negative) {
    Val none = b_->constant(r.out, Scalar::from_float(-INFINITY));
    Val below = less(x, b_->constant(r.out, Scalar::from_int(0)));
    Val finite = both(below, b_->emit(Op::not_equal, DType::Bool, x, none));
    Val part = b_->emit(Op::not_equal, DType::Bool, y, b_->emit(Op::floor, r.out, y));
    Val ordered = b_->emit(Op::equal, DType::Bool, y, y);
    when(both(finite, both(part, ordered)), [&] {
      raise_at(
          site(n, "ValueError", "a negative number to a fractional power is complex in Python"));
    });
  }
  // A power of two constants is looked at here.
  const bool in_range = op == Op::power && a.known && b.known &&
                        std::isfinite(std::pow(a.known->real(), b.known->real()));
  // Small powers are products.
  if (op == Op::power && is_float(r.out) && b.known && b.known->kind <= Kind::Float) {
    double e = b.known->real();
    if (e == 2) {
      const Val square = b_->emit(Op::multiply, r.out, x, x);
      if (weak && !in_range) expect_power_in_range(n, square, x, y);
      return number(square, r.out, weak);
    }
    if (e == 0.5) {  // but for two numbers the root, which is rounded correctly
      const Val infinite = b_->constant(r.out, Scalar::from_float(INFINITY));
      const Val root = b_->emit(Op::add, r.out, b_->emit(Op::sqrt, r.out, x),
                                b_->constant(r.out, Scalar::from_float(0)));
      const Val least =
          b_->emit(Op::equal, DType::Bool, x, b_->constant(r.out, Scalar::from_float(-INFINITY)));
      return number(b_->emit(Op::select, r.out, least, infinite, root), r.out, weak);
    }
  }
  if (op == Op::power && numbus::is_integer(r.out)) {
    if (auto e = known_int(b); e && *e >= 0 && *e <= 16) {
      Val p = b_->constant(r.out, Scalar::from_int(1));
      for (int64_t k = 0; k < *e; ++k) p = b_->emit(Op::multiply, r.out, p, x);
      return number(p, r.out, weak);
    }
  }
  if (weak && is_complex(r.out)) {
    if (op == Op::divide) return number(python_quotient(x, y), r.out, true);
    if (op == Op::power) return python_power(n, number(x, r.out, true), b);
  }
  Value v = number(b_->emit(r.op, r.out, x, y), r.out, weak);
  if (op == Op::power && weak && is_float(r.out) && !in_range)
    expect_power_in_range(n, v.v[0], x, y);
  if (op == Op::power && numbus::is_integer(r.out) && is_signed(r.in[1]) && !(count && *count >= 0))
    return whole_power(n, v, x, y);
  if (a.known && b.known && weak)
    if (auto s = folded(op, *a.known, *b.known)) v = from_scalar(*s, r.out, true);
  return v;
}

Val Lower::is_zero(Val x, DType t) {
  return b_->emit(Op::equal, DType::Bool, x, b_->constant(t, Scalar::from_int(0)));
}

// Its arguments, as a site's text has them (raised.cpp).
static constexpr const char* kOutOfRange =
    "\x1e"
    "34\x1f"
    "Numerical result out of range\x1f";

// Python refuses a power of its floats that is infinite where neither of them is.
void Lower::expect_power_in_range(const Node& n, Val power, Val x, Val y) {
  if (!raises_of_numbers() || !of_user()) return;
  const DType t = b_->type(power);
  auto finite = [&](Val v) {
    return less(b_->emit(Op::absolute, t, v), b_->constant(t, Scalar::from_float(INFINITY)));
  };
  const Val infinite = b_->emit(Op::equal, DType::Bool, b_->emit(Op::absolute, t, power),
                                b_->constant(t, Scalar::from_float(INFINITY)));
  when(
      both(infinite, both(finite(x), finite(y))),
      [&] { raise_at(site(n, "OverflowError", kOutOfRange)); }, {}, ir::kRare);
}

// NumPy refuses a negative exponent of integers before it computes an element: whoever asks for a
// part of the powers only, or for their shape, hears of it.
void Lower::expect_exponents(const Node& n, const Value& base, Value& exponents) {
  auto whole = [](const Value& v) {
    return numbus::is_integer(v.type.dtype) || v.type.dtype == DType::Bool;
  };
  auto known = known_int(exponents);
  if (base.unknown() || exponents.unknown() || !whole(base) || !whole(exponents) ||
      !is_signed(exponents.type.dtype) || (known && *known >= 0))
    return;
  if (exponents.lazy) exponents = materialise(n, exponents);
  DType t = exponents.type.dtype;
  Val negative = new_variable(DType::Bool, b_->constant(DType::Bool, Scalar::from_bool(false)));
  auto look = [&](Val exponent) {
    Val one = less(exponent, b_->constant(t, Scalar::from_int(0)));
    set(negative, b_->emit(Op::logical_or, DType::Bool, get(negative), one));
  };
  if (exponents.type.is_array())
    each(exponents.shape(), [&](std::span<const Val> at) { look(element(exponents, at).v[0]); });
  else
    look(exponents.v[0]);
  Val some = base.type.is_array() ? b_->emit(Op::not_equal, DType::Bool, size_of(base), ci(0))
                                  : b_->constant(DType::Bool, Scalar::from_bool(true));
  when(both(get(negative), some), [&] {
    raise_at(site(n, "ValueError", "Integers to negative integer powers are not allowed."));
  });
}

// A power of integers, where the exponent may be negative: neither Python's float nor NumPy's error
// can be told from the types, and both are an error. Kernels give the whole part of the power.
Value Lower::whole_power(const Node& n, const Value& power, Val x, Val exponent) {
  DType t = power.type.dtype, e = b_->type(exponent);
  auto is = [&](int64_t k) {
    return b_->emit(Op::equal, DType::Bool, x, b_->constant(t, Scalar::from_int(k)));
  };
  Val zero = b_->constant(t, Scalar::from_int(0)), one = b_->constant(t, Scalar::from_int(1));
  Val negative = less(exponent, b_->constant(e, Scalar::from_int(0)));
  if (raises_of_numbers()) {
    when(
        negative,
        [&] {
          raise_at(site(n, "ValueError", "Integers to negative integer powers are not allowed."));
        },
        {}, ir::kRare);
    return power;
  }
  Val inverse = b_->emit(Op::select, t, is(1), one, zero);
  if (is_signed(t)) {
    Val odd = b_->emit(Op::bitwise_and, e, exponent, b_->constant(e, Scalar::from_int(1)));
    Val sign = b_->emit(Op::select, t, b_->cast(odd, DType::Bool), x, one);
    inverse = b_->emit(Op::select, t, is(-1), sign, inverse);
  }
  return number(b_->emit(Op::select, t, negative, inverse, power.v[0]), t, power.type.weak);
}

// The quotient of Python's complex numbers by Smith's method, which divides by the scaled divisor
// where NumPy multiplies by its inverse: that one overflows earlier. Where division by zero does
// not raise it is NumPy's.
Val Lower::python_quotient(Val a, Val b) {
  constexpr DType kType = DType::F64;
  if (!raises_of_numbers()) return b_->emit(Op::divide, DType::C128, a, b);
  auto two = [&](Op op, Val x, Val y) { return b_->emit(op, kType, x, y); };
  auto pick = [&](Val c, Val x, Val y) { return b_->emit(Op::select, kType, c, x, y); };
  Val ar = b_->emit(Op::real_part, kType, a), ai = b_->emit(Op::imag_part, kType, a);
  Val br = b_->emit(Op::real_part, kType, b), bi = b_->emit(Op::imag_part, kType, b);
  Val by_real = b_->emit(Op::greater_equal, DType::Bool, b_->emit(Op::absolute, kType, br),
                         b_->emit(Op::absolute, kType, bi));
  Val large = pick(by_real, br, bi), small = pick(by_real, bi, br);
  Val ratio = two(Op::divide, small, large);
  Val scale = two(Op::add, large, two(Op::multiply, small, ratio));
  Val re = pick(by_real, two(Op::add, ar, two(Op::multiply, ai, ratio)),
                two(Op::add, two(Op::multiply, ar, ratio), ai));
  Val im = pick(by_real, two(Op::subtract, ai, two(Op::multiply, ar, ratio)),
                two(Op::subtract, two(Op::multiply, ai, ratio), ar));
  return b_->emit(Op::make_complex, DType::C128, two(Op::divide, re, scale),
                  two(Op::divide, im, scale));
}

// A power of a complex number of Python's: whole exponents up to 100 are products, the first of
// which is of one. Where the exponent is known the products stand here, else in a loop.
Value Lower::python_power(const Node& n, const Value& x, const Value& exponent) {
  constexpr DType kType = DType::C128;
  if (!exponent.known)
    return call_function({n, {x, number(as(exponent, kType), kType, true)}, {}},
                         u_.program.library("complex power"));
  double e = exponent.known->real();
  if (exponent.known->imag() != 0 || std::trunc(e) != e || std::abs(e) > 100)
    return number(b_->emit(Op::power, kType, x.v[0], as(exponent, kType)), kType, true);
  Val one = b_->constant(kType, Scalar::from_complex(1, 0)), p = x.v[0], r = one;
  const int whole = static_cast<int>(std::abs(e));
  for (int bit = 1; bit <= whole; bit *= 2) {
    if (whole & bit) r = b_->emit(Op::multiply, kType, r, p);
    if (2 * bit <= whole) p = b_->emit(Op::multiply, kType, p, p);
  }
  if (e > 0) return number(r, kType, true);
  if (raises_of_numbers())
    when(is_zero(r, kType), [&] {  // also where the products have become too small
      raise_at(site(n, "ZeroDivisionError", "0.0 to a negative or complex power"));
    });
  return number(python_quotient(one, r), kType, true);
}

Value Lower::unary(const Node& n, Op op, const Value& a) {
  if (a.unknown()) return {};
  if (a.type.is_array()) {
    std::vector<Value> one{a};
    return apply(n, op, one);
  }
  if (!a.type.is_number()) fail(n, what_works(op) + " does not work on " + name(a.type));
  return unary_number(n, op, a);
}

Value Lower::unary_number(const Node& n, Op op, const Value& a) {
  DType t = a.type.dtype;
  if (is_beyond(a.type) && op != Op::positive && op != Op::absolute) refuse_beyond();
  if (t == DType::Bool && a.type.weak && op != Op::logical_not) t = DType::I64;
  Resolved r;
  try {
    DType operands[] = {t};
    r = resolve(op, operands);
  } catch (const Error&) {
    fail(n, what_works(op) + " does not work on " + name(a.type));
  }
  Val x = r.in[0] == DType::Bool ? truth(n, a) : as(a, r.in[0]);
  Value v = number(b_->emit(r.op, r.out, x), r.out, a.type.weak);
  if (a.known && a.known->kind <= Kind::Float && op == Op::negative && a.type.weak) {
    Scalar s = a.known->is_real_integer() ? Scalar::from_int(-a.known->i)
                                          : Scalar::from_float(-a.known->real());
    v = from_scalar(s, r.out, true);
  }
  if (op == Op::negative || op == Op::positive) v.type.least = a.type.least;
  return v;
}

Value Lower::apply(const Node& n, Op op, std::span<const Value> args) {
  bool arrays = false;
  for (const Value& a : args) {
    if (a.unknown()) return {};
    if (a.type.is_array())
      arrays = true;
    else if (!a.type.is_number())
      fail(n, what_works(op) + " does not work on " + name(a.type));
  }
  if (!arrays)
    return args.size() == 1 ? unary_number(n, op, args[0])
                            : binary_numbers(n, op, args[0], args[1]);
  // The type of an element follows from the types alone; the steps made to find it are dead.
  std::vector<Value> held(args.begin(), args.end());
  auto of = [this, &n, op](std::span<const Value> e) {
    return e.size() == 1 ? unary_number(n, op, e[0]) : binary_numbers(n, op, e[0], e[1]);
  };
  std::vector<Value> sample;
  for (const Value& a : held) {
    bool weak = !a.type.is_array() && a.type.weak;
    if (a.type.is_array() || !a.known)  // nothing is raised for what no element is made of
      sample.push_back(number(b_->constant(a.type.dtype, Scalar::from_int(1)), a.type.dtype, weak));
    else
      sample.push_back(a);
  }
  DType t = of(sample).type.dtype;
  // Once, before the loop.
  if (held.size() == 2)
    for (int k : {0, 1}) {
      const Value &python = held[k], &other = held[1 - k];
      if (python.type.is_number() && python.type.weak && !python.known && other.type.is_array())
        require_fits(n, op, python, other.type.dtype);
    }
  std::vector<Val> shape = broadcast(n, held);
  size_t ndim = shape.size();
  Spread spread(*this, held, shape);
  std::vector<std::vector<Val>> repeated = spread.repeated;
  auto element_at = [this, held, of, ndim, repeated](std::span<const Val> at) {
    std::vector<Value> e;
    for (size_t k = 0; k < held.size(); ++k)
      e.push_back(broadcast_element(held[k], at, ndim, repeated[k]));
    Value r = of(e);
    r.type.weak = false;
    r.known.reset();
    return r;
  };
  // NumPy gives numbers for what has no axes.
  if (ndim == 0) return element_at({});
  return elementwise(t, shape, held, element_at, &spread);
}

}  // namespace numbus::frontend
