// Scalars to and from memory, with NumPy's conversions.
#include "base/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace numbus {

float half_to_float(uint16_t h) {
  uint32_t sign = (h & 0x8000u) << 16, exp = (h >> 10) & 31, frac = h & 1023;
  if (exp == 31) return std::bit_cast<float>(sign | 0x7F800000u | (frac << 13));
  if (exp == 0) {
    float v = std::ldexp(static_cast<float>(frac), -24);
    return sign ? -v : v;
  }
  return std::bit_cast<float>(sign | ((exp + 112) << 23) | (frac << 13));
}

uint16_t float_to_half(double f) {
  uint16_t sign = std::signbit(f) ? 0x8000 : 0;
  double a = std::fabs(f);
  if (std::isnan(a)) return sign | 0x7E00;
  if (a >= 65520.0) return sign | 0x7C00;
  if (a == 0) return sign;
  int e = std::max(std::ilogb(a), -14);
  double scaled = std::nearbyint(std::ldexp(a, 10 - e));  // in [0, 2048]
  uint32_t bits = static_cast<uint32_t>(scaled) + (static_cast<uint32_t>(e + 14) << 10);
  return sign | static_cast<uint16_t>(bits);
}

uint16_t double_to_brain(double f) {
  float near = static_cast<float>(f);
  // The step through float32 rounds to odd, where rounding twice is rounding once (Boldo and
  // Melquiond, 2008).
  if (std::isfinite(f) && static_cast<double>(near) != f) {
    auto bits = std::bit_cast<uint32_t>(near);
    if (std::fabs(static_cast<double>(near)) > std::fabs(f)) --bits;
    near = std::bit_cast<float>(bits | 1);
  }
  return float_to_brain(near);
}

float rounded_to_half(DType t, float f) {
  return t == DType::F16 ? half_to_float(float_to_half(f)) : brain_to_float(float_to_brain(f));
}

namespace {

// Float to integer as x86 and NumPy do: out of range gives the "indefinite" pattern of 64 bits,
// narrowed.
int64_t to_int64(double v) {
  if (v >= -9223372036854775808.0 && v < 9223372036854775808.0) return static_cast<int64_t>(v);
  return INT64_MIN;
}

template <class T>
void put(void* to, T v) {
  std::memcpy(to, &v, sizeof v);
}
template <class T>
T get(const void* from) {
  T v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

}  // namespace

void store_scalar(const Scalar& s, DType t, void* to) {
  // Comparing NaNs sets flags of errors, which is no operation of the program's.
  const bool whole = !is_inexact(t) && t != DType::Bool;
  int64_t i = s.kind < Kind::Float ? s.i : whole ? to_int64(s.f[0]) : 0;
  if (t == DType::U64 && s.kind >= Kind::Float && s.f[0] >= 9223372036854775808.0) {
    i = static_cast<int64_t>(static_cast<uint64_t>(s.f[0]));
  }
  switch (t) {
    case DType::Bool: {
      bool v = s.kind == Kind::Complex ? s.f[0] != 0 || s.f[1] != 0
               : s.kind == Kind::Float ? s.f[0] != 0
                                       : s.i != 0;
      return put<uint8_t>(to, v);
    }
    case DType::I8:
    case DType::U8: return put(to, static_cast<int8_t>(i));
    case DType::I16:
    case DType::U16: return put(to, static_cast<int16_t>(i));
    case DType::I32:
    case DType::U32: return put(to, static_cast<int32_t>(i));
    case DType::I64:
    case DType::U64: return put(to, i);
    case DType::F16: return put(to, float_to_half(s.real()));
    case DType::BF16: return put(to, double_to_brain(s.real()));
    case DType::F32: return put(to, static_cast<float>(s.real()));
    case DType::F64: return put(to, s.real());
    case DType::C64:
      put(to, static_cast<float>(s.real()));
      return put(static_cast<char*>(to) + 4, static_cast<float>(s.imag()));
    case DType::C128: put(to, s.real()); return put(static_cast<char*>(to) + 8, s.imag());
  }
}

Scalar converted(const Scalar& s, DType t) {
  char bytes[16];
  store_scalar(s, t, bytes);
  return load_scalar(t, bytes);
}

Scalar lowest_number(DType t) {
  if (is_inexact(t)) return Scalar::from_float(-std::numeric_limits<double>::infinity());
  if (!is_signed(t)) return Scalar::from_int(0);
  return Scalar::from_int(std::numeric_limits<int64_t>::min() >> (64 - 8 * itemsize(t)));
}

Scalar highest_number(DType t) {
  if (is_inexact(t)) return Scalar::from_float(std::numeric_limits<double>::infinity());
  if (t == DType::Bool) return Scalar::from_bool(true);
  const uint64_t all = ~uint64_t{0} >> (64 - 8 * itemsize(t));
  return is_signed(t) ? Scalar::from_int(static_cast<int64_t>(all >> 1)) : Scalar::from_uint(all);
}

Scalar load_scalar(DType t, const void* p) {
  switch (t) {
    case DType::Bool: return Scalar::from_bool(get<uint8_t>(p) != 0);
    case DType::I8: return Scalar::from_int(get<int8_t>(p));
    case DType::I16: return Scalar::from_int(get<int16_t>(p));
    case DType::I32: return Scalar::from_int(get<int32_t>(p));
    case DType::I64: return Scalar::from_int(get<int64_t>(p));
    case DType::U8: return Scalar::from_uint(get<uint8_t>(p));
    case DType::U16: return Scalar::from_uint(get<uint16_t>(p));
    case DType::U32: return Scalar::from_uint(get<uint32_t>(p));
    case DType::U64: return Scalar::from_uint(get<uint64_t>(p));
    case DType::F16: return Scalar::from_float(half_to_float(get<uint16_t>(p)));
    case DType::BF16: return Scalar::from_float(brain_to_float(get<uint16_t>(p)));
    case DType::F32: return Scalar::from_float(get<float>(p));
    case DType::F64: return Scalar::from_float(get<double>(p));
    case DType::C64:
      return Scalar::from_complex(get<float>(p), get<float>(static_cast<const char*>(p) + 4));
    case DType::C128:
      return Scalar::from_complex(get<double>(p), get<double>(static_cast<const char*>(p) + 8));
  }
  return {};
}

}  // namespace numbus
