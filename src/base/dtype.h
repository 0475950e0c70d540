// The fifteen element types, their properties and NumPy's promotion between them.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <string_view>

namespace numbus {

enum class DType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  C64,
  C128
};
constexpr int kNumDTypes = 15;

enum class Kind : uint8_t { Bool, Int, UInt, Float, Complex };

struct DTypeInfo {
  std::string_view name;
  uint8_t itemsize;
  Kind kind;
  char format;  // struct-module code of the element, or of its real part; bfloat16 has none
};

constexpr DTypeInfo kDTypes[kNumDTypes] = {
    {"bool", 1, Kind::Bool, '?'},          {"int8", 1, Kind::Int, 'b'},
    {"int16", 2, Kind::Int, 'h'},          {"int32", 4, Kind::Int, 'i'},
    {"int64", 8, Kind::Int, 'q'},          {"uint8", 1, Kind::UInt, 'B'},
    {"uint16", 2, Kind::UInt, 'H'},        {"uint32", 4, Kind::UInt, 'I'},
    {"uint64", 8, Kind::UInt, 'Q'},        {"float16", 2, Kind::Float, 'e'},
    {"bfloat16", 2, Kind::Float, 0},       {"float32", 4, Kind::Float, 'f'},
    {"float64", 8, Kind::Float, 'd'},      {"complex64", 8, Kind::Complex, 'f'},
    {"complex128", 16, Kind::Complex, 'd'}};

constexpr const DTypeInfo& info(DType t) { return kDTypes[static_cast<int>(t)]; }
constexpr int itemsize(DType t) { return info(t).itemsize; }
constexpr Kind kind(DType t) { return info(t).kind; }
constexpr bool is_complex(DType t) { return kind(t) == Kind::Complex; }
constexpr bool is_float(DType t) { return kind(t) == Kind::Float; }
// What is stored in 16 bits and computed in float32: each stored result is rounded.
constexpr bool is_half(DType t) { return t == DType::F16 || t == DType::BF16; }
// The type in which a type's numbers are computed.
constexpr DType computed_in(DType t) { return is_half(t) ? DType::F32 : t; }
// The least magnitude that becomes infinite in a type of 16 bits.
constexpr double half_overflow(DType t) { return t == DType::F16 ? 65520.0 : 0x1.ffp127; }
constexpr bool is_inexact(DType t) { return kind(t) >= Kind::Float; }
constexpr bool is_integer(DType t) { return kind(t) == Kind::Int || kind(t) == Kind::UInt; }
constexpr bool is_signed(DType t) { return kind(t) == Kind::Int; }
constexpr std::string_view name(DType t) { return info(t).name; }

// The real type of a complex type's parts; any other type itself.
constexpr DType real_of(DType t) {
  return t == DType::C64 ? DType::F32 : t == DType::C128 ? DType::F64 : t;
}
constexpr DType complex_of(DType t) {
  return t == DType::F64 || t == DType::C128 ? DType::C128 : DType::C64;
}
constexpr DType int_of_size(int size, bool is_signed) {
  int step = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return static_cast<DType>((is_signed ? 1 : 5) + step);
}

// The smallest float type that holds every value of an integer type as NumPy's rules see it.
constexpr DType float_for(DType t) {
  if (is_inexact(t)) return t;
  int size = itemsize(t);
  return size == 1 ? DType::F16 : size == 2 ? DType::F32 : DType::F64;
}

// numpy.promote_types for these types. NumPy has no rule for bfloat16: with small integers it
// stays, as ml_dtypes has it, with others and with float16 the result is the type of NumPy's loop.
constexpr DType promote(DType a, DType b) {
  if (a == b) return a;
  if (kind(a) > kind(b)) {
    DType t = a;
    a = b;
    b = t;
  }
  // kind(a) <= kind(b) from here on.
  if (kind(a) == Kind::Bool) return b;
  if (is_half(a) && is_half(b)) return DType::F32;
  if (kind(a) == kind(b)) return itemsize(a) > itemsize(b) ? a : b;
  if (kind(a) == Kind::Int && kind(b) == Kind::UInt) {
    if (itemsize(a) > itemsize(b)) return a;
    int size = itemsize(b) * 2;
    return size > 8 ? DType::F64 : int_of_size(size, true);
  }
  DType f = float_for(a);
  if (is_float(b)) return itemsize(f) > itemsize(b) ? f : b;
  return itemsize(f) > itemsize(real_of(b)) ? complex_of(f) : b;
}

// The type in which a value of `strong` meets a Python number, which yields to it where its kind
// allows.
constexpr DType weak_result(DType strong, Kind weak) {
  Kind k = kind(strong);
  if (weak == Kind::Bool) return strong;
  if (weak <= Kind::UInt) return k == Kind::Bool ? DType::I64 : strong;
  if (weak == Kind::Float) return k < Kind::Float ? DType::F64 : strong;
  if (k == Kind::Complex) return strong;
  return k < Kind::Float ? DType::C128 : complex_of(strong);
}

enum class Casting : uint8_t { No, Equiv, Safe, SameKind, Unsafe };

// numpy.can_cast between types.
constexpr bool can_cast(DType from, DType to, Casting rule) {
  if (from == to || rule == Casting::Unsafe) return true;
  if (rule <= Casting::Equiv) return false;
  if (promote(from, to) == to) return true;
  if (rule == Casting::Safe) return false;
  if (kind(from) == Kind::Int && kind(to) == Kind::UInt) return false;
  if (kind(from) == Kind::UInt && kind(to) == Kind::Int) return true;  // of any width
  return kind(from) <= kind(to);
}

// One value of any type, widened to its kind.
struct Scalar {
  Kind kind = Kind::Int;
  union {
    int64_t i;
    uint64_t u;
    double f[2];
  };
  Scalar() : u(0) { f[1] = 0; }
  static Scalar from_bool(bool v) {
    Scalar s;
    s.kind = Kind::Bool;
    s.i = v;
    return s;
  }
  static Scalar from_int(int64_t v) {
    Scalar s;
    s.kind = Kind::Int;
    s.i = v;
    return s;
  }
  static Scalar from_uint(uint64_t v) {
    Scalar s;
    s.kind = Kind::UInt;
    s.u = v;
    return s;
  }
  static Scalar from_float(double v) {
    Scalar s;
    s.kind = Kind::Float;
    s.f[0] = v;
    s.f[1] = 0;
    return s;
  }
  static Scalar from_complex(double re, double im) {
    Scalar s;
    s.kind = Kind::Complex;
    s.f[0] = re;
    s.f[1] = im;
    return s;
  }
  bool is_real_integer() const { return kind <= Kind::UInt; }
  double real() const {
    return kind >= Kind::Float  ? f[0]
           : kind == Kind::UInt ? static_cast<double>(u)
                                : static_cast<double>(i);
  }
  double imag() const { return kind == Kind::Complex ? f[1] : 0.0; }
};

// The 8- or 16-byte pattern of a scalar stored as dtype `t`, and back.
void store_scalar(const Scalar& s, DType t, void* to);
Scalar load_scalar(DType t, const void* from);
// What becomes of a value as dtype `t`: integers wrap around, floats are rounded.
Scalar converted(const Scalar& s, DType t);
// The least and the greatest number of a type; of floats, the infinities.
Scalar lowest_number(DType t);
Scalar highest_number(DType t);

float half_to_float(uint16_t h);
uint16_t float_to_half(double f);
constexpr float brain_to_float(uint16_t h) {
  return std::bit_cast<float>(static_cast<uint32_t>(h) << 16);
}
// To nearest, of two equally near ones the even one; a NaN keeps its sign alone.
constexpr uint16_t float_to_brain(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16 & 0x8000) | 0x7fc0);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
// Rounds once.
uint16_t double_to_brain(double f);
// A number rounded to a type of 16 bits.
float rounded_to_half(DType t, float f);

}  // namespace numbus
