// The search for elements that NumPy may warn of.
#include "lazy/examine.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_flags.h"

namespace numbus::float_errors {
namespace {

bool divides_integers(Op op) {
  return op == Op::floor_divide || op == Op::remainder || op == Op::fmod || op == Op::reciprocal;
}

// Compares and chooses, or changes signs.
bool is_quiet(const Instr& i) {
  switch (i.op) {
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin:
    case Op::negative:
    case Op::absolute:
    case Op::fabs:
    case Op::copysign:
    case Op::positive:
    case Op::conjugate:
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::rint:
    case Op::heaviside:
    case Op::select:
    case Op::index:
    case Op::gather:
    case Op::gcd:
    case Op::relu:
    case Op::lcm: return !is_complex(i.loop) || i.op != Op::absolute;
    default: break;
  }
  if (static_cast<int>(i.op) >= kNumRows) return false;
  const Rule rule = row(i.op).rule;
  return rule == Rule::Compare || rule == Rule::Logical || rule == Rule::TestFloat ||
         rule == Rule::TestReal || rule == Rule::Bits || rule == Rule::Shift ||
         rule == Rule::BitCount;
}

// Whether any element has these bits of a mask: is infinite or not a number, where they are the
// exponent's; quick, as most results have none.
template <class U>
[[gnu::always_inline]] inline bool any_with(const char* at, int64_t n, U wanted, U mask) {
  constexpr int64_t kPart = 128, kSize = sizeof(U);
  auto special = [&](int64_t k) {
    U bits;
    std::memcpy(&bits, at + k * kSize, sizeof(U));
    return static_cast<U>((bits & mask) == wanted ? -1 : 0);
  };
  U found = 0;
  int64_t k = 0;
  for (; k + kPart <= n; k += kPart) {
    for (int64_t m = 0; m < kPart; ++m) found |= special(k + m);
    if (found) return true;
  }
  for (; k < n; ++k) found |= special(k);
  return found != 0;
}
template <class U>
[[gnu::always_inline]] inline bool any_with(const char* at, int64_t n, U exponent) {
  return any_with<U>(at, n, exponent, exponent);
}
// As kernels' results are searched in each launch, with the processor's wider vectors.
#if defined(__x86_64__)
#define NUMBUS_WIDE [[gnu::target_clones("avx2", "default")]]
#else
#define NUMBUS_WIDE
#endif
NUMBUS_WIDE bool special_16(const char* at, int64_t n) { return any_with<uint16_t>(at, n, 0x7c00); }
NUMBUS_WIDE bool special_brain(const char* at, int64_t n) {
  return any_with<uint16_t>(at, n, 0x7f80);
}
NUMBUS_WIDE bool special_32(const char* at, int64_t n) {
  return any_with<uint32_t>(at, n, 0x7f800000);
}
NUMBUS_WIDE bool special_64(const char* at, int64_t n) {
  return any_with<uint64_t>(at, n, 0x7ff0000000000000);
}
NUMBUS_WIDE bool large_32(const char* at, int64_t n) {
  return any_with<uint32_t>(at, n, 0x7f000000);
}
NUMBUS_WIDE bool large_64(const char* at, int64_t n) {
  return any_with<uint64_t>(at, n, 0x7fe0000000000000);
}
NUMBUS_WIDE bool lowest_32(const char* at, int64_t n) {
  return any_with<uint32_t>(at, n, uint32_t{1} << 31, ~uint32_t{0});
}
NUMBUS_WIDE bool lowest_64(const char* at, int64_t n) {
  return any_with<uint64_t>(at, n, uint64_t{1} << 63, ~uint64_t{0});
}
#undef NUMBUS_WIDE

// Whether any of these is so large that the sum of two such numbers may overflow.
bool any_large(Elements e, int64_t from, int64_t to) {
  e.at = e.element(from);
  const int64_t n = e.one ? 1 : to - from;
  switch (e.type) {
    case DType::F32: return large_32(e.at, n);
    case DType::F64: return large_64(e.at, n);
    case DType::C64: return large_32(e.at, 2 * n);
    case DType::C128: return large_64(e.at, 2 * n);
    default: return false;
  }
}
}  // namespace

bool any_lowest(DType type, const char* at, int64_t n) {
  if (type == DType::I32) return lowest_32(at, n);
  return type == DType::I64 && lowest_64(at, n);
}

bool any_special(const Elements& e, int64_t n) {
  if (e.one) n = 1;
  switch (e.type) {
    case DType::F16: return special_16(e.at, n);
    case DType::BF16: return special_brain(e.at, n);
    case DType::F32: return special_32(e.at, n);
    case DType::F64: return special_64(e.at, n);
    case DType::C64: return special_32(e.at, 2 * n);
    case DType::C128: return special_64(e.at, 2 * n);
    default: return false;
  }
}

namespace {

struct Number {
  bool nan = false, infinite = false, zero = false;
  explicit Number(const Elements& e, int64_t k) {
    const Scalar s = load_scalar(e.type, e.element(k));
    if (s.kind == Kind::Complex) {
      nan = std::isnan(s.f[0]) || std::isnan(s.f[1]);
      infinite = std::isinf(s.f[0]) || std::isinf(s.f[1]);
      zero = s.f[0] == 0 && s.f[1] == 0;
    } else if (s.kind == Kind::Float) {
      nan = std::isnan(s.f[0]);
      infinite = std::isinf(s.f[0]);
      zero = s.f[0] == 0;
    } else {
      zero = s.i == 0;
    }
  }
};

bool is_suspicious(const Examined& e, int64_t k, Looks& looks) {
  const Number result(e.result, k);
  if (!result.nan && !result.infinite) return false;
  bool nan = false, infinite = false, zero = false;
  for (int a = 0; a < e.count; ++a) {
    const Number n(e.in[a], k);
    nan = nan || n.nan;
    infinite = infinite || n.infinite;
    zero = zero || n.zero;
  }
  looks = result.nan ? nan ? Looks::OfNan : Looks::Invalid
          : infinite ? Looks::OfInfinite
          : zero     ? Looks::Pole
                     : Looks::Infinite;
  if (e.by == Evidence::Any || e.by == Evidence::Large) return true;
  return !nan && (result.nan || zero || !infinite);
}

bool is_suspicious_or_large(const Examined& e, int64_t k, Looks& looks) {
  const Elements& by = e.in[e.count - 1];
  if (is_suspicious(e, k, looks)) return true;
  looks = Looks::Large;
  Elements one = by;
  one.at = by.element(k);
  return any_large(by, k, k + 1) && !any_special(one, 1);
}

bool is_unordered(const Examined& e, int64_t k, Looks& looks) {
  looks = Looks::Invalid;
  return Number(e.in[0], k).nan || Number(e.in[1], k).nan;
}

bool is_bad_divisor(const Examined& e, int64_t k, Looks& looks) {
  const Elements& by = e.in[e.count - 1];
  const Scalar divisor = load_scalar(by.type, by.element(k));
  looks = divisor.i == 0 ? Looks::Pole : Looks::Infinite;
  if (divisor.i == 0) return true;
  if (divisor.kind != Kind::Int || divisor.i != -1 || e.count < 2) return false;
  return load_scalar(e.in[0].type, e.in[0].element(k)).i == lowest_number(e.in[0].type).i;
}

// NumPy decides: these are more than it warns of.
bool is_beyond(const Examined& e, int64_t k, Looks& looks) {
  const Scalar s = load_scalar(e.in[0].type, e.in[0].element(k));
  looks = Looks::Invalid;
  const double most = itemsize(e.result.type) > 4 ? 0x1p63 : 0x1p31;
  const double part = s.kind == Kind::Complex && !(std::fabs(s.f[1]) < most) ? s.f[1] : s.real();
  return !(std::fabs(part) < most) || (kind(e.result.type) == Kind::UInt && part <= -1);
}

}  // namespace

Evidence evidence_of(const Instr& i, DType out) {
  if (i.op == Op::cast) {
    if (is_float(i.loop) && out == i.loop && !is_half(out) && !i.predicated) return Evidence::Flags;
    if (is_inexact(i.loop) || is_inexact(out)) return Evidence::Result;
    return i.loop == DType::Bool ? Evidence::None : Evidence::Cast;
  }
  const bool ordered = i.op == Op::less || i.op == Op::less_equal || i.op == Op::greater ||
                       i.op == Op::greater_equal;
  if (ordered && is_complex(i.loop)) return Evidence::Order;
  // NumPy is asked about functions that it has, too; what others meet is their own matter.
  if (i.op == Op::apply) return i.told_as && *i.told_as ? Evidence::Any : Evidence::None;
  if (is_quiet(i)) return Evidence::None;
  if (!is_inexact(i.loop)) return divides_integers(i.op) ? Evidence::Divisor : Evidence::None;
  if (is_complex(i.loop) && (i.op == Op::divide || i.op == Op::reciprocal || i.op == Op::power))
    return Evidence::Large;
  if (i.op == Op::logaddexp || i.op == Op::logaddexp2) return Evidence::Large;
  if (is_complex(i.loop) || i.op == Op::nextafter || i.op == Op::power || i.op == Op::float_power)
    return Evidence::Any;
  const bool plain = i.op == Op::add || i.op == Op::subtract || i.op == Op::multiply ||
                     i.op == Op::divide || i.op == Op::sqrt || i.op == Op::square;
  return plain && !i.predicated && (i.loop == DType::F64 || i.loop == DType::F32) &&
                 !is_half(out) && is_float(out)
             ? Evidence::Flags
             : Evidence::Result;
}

bool keeps_flags_clean(const Instr& i, DType out) {
  switch (i.op) {
    case Op::negative:
    case Op::absolute:
    case Op::fabs:
    case Op::copysign:
    case Op::positive:
    case Op::select:
    case Op::gather:
    case Op::index: return is_float(i.loop) && !is_half(i.loop) && out == i.loop;
    case Op::equal:
    case Op::not_equal:
    case Op::isnan:
    case Op::isinf:
    case Op::isfinite: return is_float(i.loop) && !is_half(i.loop);
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not: return i.loop == DType::Bool;
    case Op::cast: return !is_float(out) ? false : out == i.loop && !is_half(out);
    default: return evidence_of(i, out) == Evidence::Flags;
  }
}

int64_t find_suspicious(const Examined& e, int64_t from, int64_t n, Looks& looks) {
  if (e.by == Evidence::None) return n;
  if (e.by == Evidence::Cast && !is_inexact(e.in[0].type)) return n;
  const bool large = e.by == Evidence::Large;
  const bool by_result =
      e.by == Evidence::Result || e.by == Evidence::Any || e.by == Evidence::Flags;
  // In parts, the first of which is small, as there may be an element soon.
  for (int64_t part = 64; from < n; part = 4096) {
    const int64_t end = std::min(n, from + part);
    Elements some = e.result;
    some.at = some.element(from);
    if ((by_result || large) && !any_special(some, end - from) &&
        !(large && any_large(e.in[e.count - 1], from, end))) {
      from = end;
      continue;
    }
    for (; from < end; ++from) {
      if (e.where && !e.where[from]) continue;
      if (by_result                   ? is_suspicious(e, from, looks)
          : large                     ? is_suspicious_or_large(e, from, looks)
          : e.by == Evidence::Order   ? is_unordered(e, from, looks)
          : e.by == Evidence::Divisor ? is_bad_divisor(e, from, looks)
                                      : is_beyond(e, from, looks))
        return from;
    }
  }
  return n;
}

}  // namespace numbus::float_errors
