// Real expansions of table rows; complex operands are handed to expand_complex.cpp.
#include "passes/expand.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "ir/function.h"
#include "passes/expand_complex.h"
#include "passes/math/math.h"
#include "passes/math_builder.h"

namespace numbus {

using ir::Builder;
using ir::kNone;
using ir::Val;

namespace {

// Square and multiply over `bits` bits of the exponent: exact modulo 2**width, as in NumPy. Most
// exponents are small: what follows the first four bits is skipped where no lane has more.
Val integer_power(Builder& b, Val result, Val base, Val e, int bits) {
  constexpr int kAtOnce = 4;
  DType t = b.type(base);
  Val one = b.constant(t, Scalar::from_int(1)), zero = b.constant(t, Scalar::from_int(0));
  const int now = std::min(bits, kAtOnce);
  for (int i = 0; i < now; ++i) {
    Val bit = b.emit(Op::bitwise_and, t, e, one);
    Val take = b.emit(Op::not_equal, DType::Bool, bit, zero);
    result = b.emit(Op::select, t, take, b.emit(Op::multiply, t, result, base), result);
    e = b.emit(Op::right_shift, t, e, one);
    if (i + 1 < now) base = b.emit(Op::multiply, t, base, base);
  }
  if (now == bits) return result;
  MathBuilder m(b);
  return m.if_any(
      m.ne(e, zero),
      [&] { return integer_power(b, result, b.emit(Op::multiply, t, base, base), e, bits - now); },
      result);
}

Val real_power(Builder& b, Val x, Val y) {
  DType t = b.type(x);
  MathBuilder m(b);
  if (is_inexact(t)) return math::pow(m, x, y);
  return integer_power(b, b.constant(t, Scalar::from_int(1)), x, y,
                       itemsize(t) * 8 - (is_signed(t) ? 1 : 0));
}

// The remainder with the divisor's sign, and the quotient NumPy pairs with it.
Val real_remainder(Builder& b, Val x, Val y) {
  DType t = b.type(x);
  MathBuilder m(b);
  Val r = b.emit(Op::fmod, t, x, y);
  if (kind(t) == Kind::UInt) return r;
  Val zero = b.constant(t, Scalar::from_int(0));
  Val nonzero = m.ne(r, zero);
  Val differ = b.emit(Op::logical_xor, DType::Bool, m.lt(y, zero), m.lt(r, zero));
  Val fixed = b.emit(Op::select, t, m.mand(nonzero, differ), m.add(r, y), r, ir::kRemainder);
  return is_float(t) ? m.select(nonzero, fixed, m.copysign(zero, y)) : fixed;
}

Val real_floor_divide(Builder& b, Val x, Val y) {
  DType t = b.type(x);
  MathBuilder m(b);
  Val zero = b.constant(t, Scalar::from_int(0)), one = b.constant(t, Scalar::from_int(1));
  if (is_integer(t)) {
    const ir::Inst& by = b.step(y);
    if (by.op == Op::constant && by.imm > 0 && (by.imm & (by.imm - 1)) == 0) {
      // A power of two: the shift rounds down, as it should.
      int bits = std::countr_zero(static_cast<uint64_t>(by.imm));
      return b.emit(Op::right_shift, t, x, b.constant(t, Scalar::from_int(bits)));
    }
    Val q = b.emit(Op::int_div, t, x, y);
    if (!is_signed(t)) return q;
    Val r = m.sub(x, m.mul(q, y));
    Val differ = b.emit(Op::logical_xor, DType::Bool, m.lt(y, zero), m.lt(r, zero));
    differ = m.mand(m.mand(m.ne(r, zero), m.ne(y, zero)), differ);
    return m.select(differ, m.sub(q, one), q);
  }
  // NumPy's float rule: exact remainder first, then the rounded quotient of what is left.
  Val mod = b.emit(Op::fmod, t, x, y);
  Val div = m.div(m.sub(x, mod), y);
  Val differ = b.emit(Op::logical_xor, DType::Bool, m.lt(y, zero), m.lt(mod, zero));
  div = m.select(m.mand(m.ne(mod, zero), differ), m.sub(div, one), div);
  Val fl = m.floor(div);
  fl = m.select(m.gt(m.sub(div, fl), m.fconst(x, 0.5)), m.add(fl, one), fl);
  Val quotient = m.div(x, y);
  Val result = m.select(m.ne(div, zero), fl, m.copysign(zero, quotient));
  return m.select(m.eq(y, zero), quotient, result);
}

// One step of the last place, in the integers that order floats of any width: the magnitude, with
// the sign.
Val next_after(Builder& b, Val x, Val y) {
  const DType t = b.type(x), word = int_of_size(itemsize(t), true);
  const int bits = 8 * itemsize(t), fraction = t == DType::F16    ? 10
                                               : t == DType::BF16 ? 7
                                               : t == DType::F32  ? 23
                                                                  : 52;
  MathBuilder m(b);
  auto number = [&](int64_t v) { return b.constant(word, Scalar::from_int(v)); };
  const int64_t most = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  const Val zero = number(0), one = number(1), infinite = number(most >> fraction << fraction);
  auto magnitude = [&](Val i) { return m.iand(i, number(most)); };
  auto order = [&](Val i) { return m.select(m.ilt(i, zero), m.ineg(magnitude(i)), magnitude(i)); };
  const Val from = b.emit(Op::bits, word, x), to = b.emit(Op::bits, word, y);
  const Val low = order(from), high = order(to);
  const Val next = m.select(m.igt(high, low), m.iadd(low, one), m.isub(low, one));
  // A step to zero keeps the sign.
  const Val below = m.mor(m.ilt(next, zero), m.mand(m.ieq(next, zero), m.ilt(from, zero)));
  const Val size = m.select(m.ilt(next, zero), m.ineg(next), next);
  Val result = m.select(below, m.ior(size, number(-most - 1)), size);
  // NumPy's half floats keep the first of two equal ones: zeros have signs.
  result = m.select(m.ieq(low, high), t == DType::F16 ? from : to, result);
  result = m.select(m.igt(magnitude(to), infinite), to, result);
  result = m.select(m.igt(magnitude(from), infinite), from, result);
  return b.emit(Op::bits, t, result);
}

Val expand_real(Builder& b, Op op, Val x, Val y) {
  DType t = b.type(x);
  MathBuilder m(b);
  auto lit = [&](double v) {
    return b.constant(
        t, is_float(t) ? Scalar::from_float(v) : Scalar::from_int(static_cast<int64_t>(v)));
  };
  switch (op) {
    case Op::positive:
    case Op::conjugate: return x;
    case Op::square: return m.mul(x, x);
    case Op::reciprocal: {
      if (is_float(t)) return m.div(lit(1), x);
      Val r = b.emit(Op::int_div, t, lit(1), x);
      if (t != DType::I32 && t != DType::I64) return r;
      // NumPy's result for 1/0 is that of converting an infinity.
      int64_t lowest = std::numeric_limits<int64_t>::min() >> (64 - 8 * itemsize(t));
      return m.select(m.eq(x, lit(0)), b.constant(t, Scalar::from_int(lowest)), r);
    }
    case Op::fabs: return m.abs(x);
    case Op::sign: {
      Val s = m.select(m.gt(x, lit(0)), lit(1), lit(0));
      if (kind(t) == Kind::UInt) return s;
      s = m.select(m.lt(x, lit(0)), lit(-1), s);
      return is_float(t) ? m.select(m.ne(x, x), x, s) : s;
    }
    case Op::lcm: {
      // The magnitude of the lowest number is none of its own type.
      const DType u = int_of_size(itemsize(t), false);
      Val p = b.emit(Op::bits, u, m.abs(x)), q = b.emit(Op::bits, u, m.abs(y));
      Val share = b.emit(Op::int_div, u, p, b.emit(Op::gcd, u, p, q));
      return b.emit(Op::bits, t, m.mul(share, q));
    }
    case Op::floor_divide: return real_floor_divide(b, x, y);
    case Op::remainder: return real_remainder(b, x, y);
    case Op::power:
    case Op::float_power: return real_power(b, x, y);
    case Op::isnan:
      return is_float(t) ? b.emit(op, DType::Bool, x)
                         : b.constant(DType::Bool, Scalar::from_bool(false));
    case Op::isinf:
      return is_float(t) ? m.eq(m.abs(x), lit(HUGE_VAL))
                         : b.constant(DType::Bool, Scalar::from_bool(false));
    case Op::isfinite:
      return is_float(t) ? m.lt(m.abs(x), lit(HUGE_VAL))
                         : b.constant(DType::Bool, Scalar::from_bool(true));
    case Op::heaviside: {
      Val s = m.select(m.eq(x, lit(0)), y, m.select(m.lt(x, lit(0)), lit(0), lit(1)));
      return m.select(m.ne(x, x), x, s);
    }
    case Op::deg2rad: return m.mul(x, lit(3.14159265358979323846 / 180.0));
    case Op::rad2deg:
      return m.mul(x, lit(180.0 / 3.14159265358979323846));
      // clang-format off
#define NUMBUS_MATH1(name) \
    case Op::name: return math::name(m, x);
    NUMBUS_MATH1(exp) NUMBUS_MATH1(exp2) NUMBUS_MATH1(expm1) NUMBUS_MATH1(log) NUMBUS_MATH1(log2)
    NUMBUS_MATH1(log10) NUMBUS_MATH1(log1p) NUMBUS_MATH1(sin) NUMBUS_MATH1(cos) NUMBUS_MATH1(tan)
    NUMBUS_MATH1(arcsin) NUMBUS_MATH1(arccos) NUMBUS_MATH1(arctan) NUMBUS_MATH1(sinh) NUMBUS_MATH1(cosh)
    NUMBUS_MATH1(tanh) NUMBUS_MATH1(arcsinh) NUMBUS_MATH1(arccosh) NUMBUS_MATH1(arctanh) NUMBUS_MATH1(cbrt)
#undef NUMBUS_MATH1
        // clang-format on
        case Op::arctan2:
      return math::arctan2(m, x, y);
    case Op::hypot: return math::hypot(m, x, y);
    case Op::logaddexp: return math::logaddexp(m, x, y);
    case Op::logaddexp2: return math::logaddexp2(m, x, y);
      default : raise(ErrorKind::Runtime, "expand: no rule for " + std::string(op_name(op)));
  }
}

}  // namespace

Val choose(Builder& b, Val cond, Val x, Val y) {
  if (!is_complex(b.type(x))) return b.emit(Op::select, b.type(x), cond, x, y);
  Val re = choose(b, cond, real_part(b, x), real_part(b, y));
  return make_complex(b, re, choose(b, cond, imag_part(b, x), imag_part(b, y)));
}

Val convert(Builder& b, Val v, DType to) {
  DType from = b.type(v);
  if (from == to) return v;
  if (is_complex(from)) {
    if (is_complex(to))
      return make_complex(b, b.cast(real_part(b, v), real_of(to)),
                          b.cast(imag_part(b, v), real_of(to)));
    if (to == DType::Bool) {
      return b.emit(Op::logical_or, DType::Bool, convert(b, real_part(b, v), to),
                    convert(b, imag_part(b, v), to));
    }
    return convert(b, real_part(b, v), to);
  }
  if (is_complex(to)) {
    DType r = real_of(to);
    return make_complex(b, convert(b, v, r), b.constant(r, Scalar::from_float(0)));
  }
  if (to == DType::Bool) {
    Val x = is_half(from) ? b.cast(v, DType::F32) : v;
    return b.emit(Op::not_equal, DType::Bool, x, b.constant(b.type(x), Scalar::from_int(0)));
  }
  // Half floats only load, store and convert to and from float32.
  if (is_half(from) && to != DType::F32) return convert(b, b.cast(v, DType::F32), to);
  if (is_half(to) && from == DType::F64) {
    // Once, not twice: the step through float32 rounds to odd (Boldo and Melquiond, 2008).
    MathBuilder m(b);
    Val near = b.cast(v, DType::F32), back = b.cast(near, DType::F64);
    Val bits = b.emit(Op::bits, DType::I32, near),
        one = b.constant(DType::I32, Scalar::from_int(1));
    Val down = b.emit(Op::subtract, DType::I32, bits, one);
    bits = m.select(m.gt(m.abs(back), m.abs(v)), down, bits);
    bits = m.select(m.ne(back, v), b.emit(Op::bitwise_or, DType::I32, bits, one), bits);
    return b.cast(b.emit(Op::bits, DType::F32, bits), to);
  }
  // Integers step through float32 in NumPy, too.
  if (is_half(to) && from != DType::F32) return b.cast(b.cast(v, DType::F32), to);
  return b.cast(v, to);
}

Val expand(Builder& b, Op op, Val x, Val y) {
  DType t = b.type(x);
  if (is_complex(t)) return expand_complex(b, op, x, y);
  if (op == Op::nextafter) return next_after(b, x, y);
  if (is_half(t)) {
    Val r = expand(b, op, b.cast(x, DType::F32), y == kNone ? kNone : b.cast(y, DType::F32));
    return b.type(r) == DType::F32 ? b.cast(r, t) : r;
  }
  const Row& r = row(op);
  if (!r.primitive || (op == Op::isnan && !is_float(t))) return expand_real(b, op, x, y);
  DType out = r.rule == Rule::Compare || r.rule == Rule::TestReal || r.rule == Rule::TestFloat
                  ? DType::Bool
              : r.rule == Rule::BitCount ? DType::U8
                                         : t;
  return b.emit(op, out, x, y);
}

Val map_value(Builder& b, Op op, DType loop, DType out, int nin,
              const std::function<Val(int, DType)>& operand) {
  if (op == Op::cast) return operand(0, out);
  if (op == Op::select) {
    const Val c = operand(0, DType::Bool), x = operand(1, loop);
    return choose(b, c, x, operand(2, loop));
  }
  const Val x = operand(0, loop), y = nin > 1 ? operand(1, loop) : kNone;
  switch (op) {
    case Op::make_complex: return make_complex(b, x, y);
    case Op::real_part: return real_part(b, x);
    case Op::imag_part: return imag_part(b, x);
    default: return expand(b, op, x, y);
  }
}

}  // namespace numbus
