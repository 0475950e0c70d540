// The block interpreter's loops of each type: conversions and arithmetic give what wider integers
// and the compiler's own floating-point types give.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "interp/program.h"
#include "ir/kernel.h"
#include "sampling.h"

using namespace numbus;
using namespace numbus::test;
using ir::kNone;
using ir::Val;

namespace {

using Wide = __int128;

// The results of one step over arrays of its operands, unaligned and longer than a block.
template <class R, class T>
std::vector<R> computed(Op op, DType result, DType type, const std::vector<T>& a,
                        const std::vector<T>& b) {
  ir::Kernel k;
  k.args = {{type, ir::Inner::Contiguous, false, false},
            {type, ir::Inner::Contiguous, false, false},
            {result, ir::Inner::Contiguous, true, false}};
  ir::Builder builder(k);
  const Val x = builder.emit(Op::load, type, kNone, kNone, kNone, 0);
  const Val y = op == Op::cast ? kNone : builder.emit(Op::load, type, kNone, kNone, kNone, 1);
  builder.emit(Op::store, result, builder.emit(op, result, x, y), kNone, kNone, 2);
  ir::verify(k);
  const auto n = static_cast<int64_t>(a.size());
  std::vector<R> r(a.size());
  std::vector<int64_t> words(k.param_words());
  words[k.param_shape(0)] = n;
  const void* at[] = {a.data(), b.data(), r.data()};
  for (int arg = 0; arg < 3; ++arg) {
    words[k.param_arg(arg)] = reinterpret_cast<int64_t>(at[arg]);
    words[k.param_arg(arg) + 1] = itemsize(k.args[arg].dtype);
  }
  interp::Program(k).run(words.data(), 0, 1, 0, n, nullptr, 0);
  return r;
}

// Numbers of a type: its edges and those near zero, many times over, and any bits.
template <class T>
std::vector<T> numbers(uint64_t seed, bool is_bool) {
  std::mt19937_64 engine(seed);
  using Limits = std::numeric_limits<T>;
  std::vector<T> edges = {T(0), T(1), T(2), T(3), T(7), Limits::max(), Limits::lowest(), T(-1)};
  if constexpr (std::is_floating_point_v<T>) {
    for (T x : {T(0.5), T(-0.0), T(1e10), T(-255.5), Limits::min(), Limits::denorm_min(),
                Limits::infinity(), Limits::quiet_NaN()})
      edges.push_back(x);
  }
  std::vector<T> all(5000);
  for (T& x : all) {
    const uint64_t bits = engine();
    if (is_bool)
      x = static_cast<T>(bits & 1);
    else if (bits % 3 == 0)
      x = edges[bits / 3 % edges.size()];
    else
      std::memcpy(&x, &bits, sizeof x);
  }
  return all;
}

template <class F>
void for_each_type(F&& f) {
  f(DType::Bool, uint8_t());
  f(DType::I8, int8_t());
  f(DType::I16, int16_t());
  f(DType::I32, int32_t());
  f(DType::I64, int64_t());
  f(DType::U8, uint8_t());
  f(DType::U16, uint16_t());
  f(DType::U32, uint32_t());
  f(DType::U64, uint64_t());
  f(DType::F32, float());
  f(DType::F64, double());
}

template <class T>
bool same(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
  else
    return x == y;
}

// An integer of any size in a type, by its low bits.
template <class T>
T low_bits(Wide x) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x));
}

// What the conversion gives; nothing where NumPy leaves it open (floats beyond an integer's range).
template <class To, class From>
bool converted(From x, To& r) {
  if constexpr (std::is_floating_point_v<To>) {
    r = static_cast<To>(static_cast<long double>(x));
  } else if constexpr (std::is_floating_point_v<From>) {
    const long double whole = std::trunc(static_cast<long double>(x));
    if (!(whole >= std::numeric_limits<To>::lowest() && whole <= std::numeric_limits<To>::max()))
      return false;
    r = static_cast<To>(whole);
  } else {
    r = low_bits<To>(static_cast<Wide>(x));
  }
  return true;
}

}  // namespace

TEST_CASE("the interpreter's conversions between all types") {
  int64_t checked = 0;
  for_each_type([&](DType from, auto f) {
    for_each_type([&](DType to, auto t) {
      using From = decltype(f);
      using To = decltype(t);
      if (from == to || to == DType::Bool) return;  // a comparison with zero, not a cast
      CAPTURE(name(from));
      CAPTURE(name(to));
      const std::vector<From> a = numbers<From>(1, from == DType::Bool);
      const std::vector<To> got = computed<To>(Op::cast, to, from, a, a);
      bool right = true;
      for (size_t n = 0; n < a.size(); ++n) {
        To expected{};
        if (!converted(a[n], expected)) continue;
        right = right && same(got[n], expected);
        ++checked;
      }
      CHECK(right);
    });
  });
  CHECK(checked > 400'000);
}

TEST_CASE("the interpreter's sums, differences, products and comparisons of every type") {
  for_each_type([](DType t, auto zero) {
    using T = decltype(zero);
    if (t == DType::Bool) return;  // its arithmetic is expanded into other steps
    CAPTURE(name(t));
    const std::vector<T> a = numbers<T>(2, false), b = numbers<T>(3, false);
    auto all = [&](Op op, DType result, auto&& expected) {
      using R = decltype(expected(a[0], b[0]));
      const std::vector<R> got = computed<R>(op, result, t, a, b);
      bool right = true;
      for (size_t n = 0; n < a.size(); ++n) right = right && same(got[n], expected(a[n], b[n]));
      CAPTURE(op_name(op));
      CHECK(right);
    };
    if constexpr (std::is_floating_point_v<T>) {
      // Of float32 the double result is rounded once more, which is exact (53 >= 2 * 24 + 2 bits).
      using Larger = std::conditional_t<std::is_same_v<T, float>, double, T>;
      all(Op::add, t, [](T x, T y) { return static_cast<T>(Larger(x) + Larger(y)); });
      all(Op::subtract, t, [](T x, T y) { return static_cast<T>(Larger(x) - Larger(y)); });
      all(Op::multiply, t, [](T x, T y) { return static_cast<T>(Larger(x) * Larger(y)); });
      all(Op::divide, t, [](T x, T y) { return static_cast<T>(Larger(x) / Larger(y)); });
    } else {
      all(Op::add, t, [](T x, T y) { return low_bits<T>(Wide(x) + Wide(y)); });
      all(Op::subtract, t, [](T x, T y) { return low_bits<T>(Wide(x) - Wide(y)); });
      all(Op::multiply, t, [](T x, T y) {
        return low_bits<T>(static_cast<Wide>(static_cast<unsigned __int128>(Wide(x)) *
                                             static_cast<unsigned __int128>(Wide(y))));
      });
      all(Op::bitwise_and, t, [](T x, T y) { return low_bits<T>(Wide(x) & Wide(y)); });
      all(Op::bitwise_or, t, [](T x, T y) { return low_bits<T>(Wide(x) | Wide(y)); });
      all(Op::bitwise_xor, t, [](T x, T y) { return low_bits<T>(Wide(x) ^ Wide(y)); });
    }
    all(Op::less, DType::Bool, [](T x, T y) { return static_cast<uint8_t>(x < y); });
    all(Op::less_equal, DType::Bool, [](T x, T y) { return static_cast<uint8_t>(x <= y); });
    all(Op::equal, DType::Bool, [](T x, T y) { return static_cast<uint8_t>(x == y); });
    all(Op::not_equal, DType::Bool, [](T x, T y) { return static_cast<uint8_t>(x != y); });
  });
}

#ifdef __FLT16_MANT_DIG__
TEST_CASE("the interpreter's float16 is the compiler's") {
  std::vector<uint16_t> halves(65536);
  for (size_t n = 0; n < halves.size(); ++n) halves[n] = static_cast<uint16_t>(n);
  const std::vector<float> wide = computed<float>(Op::cast, DType::F32, DType::F16, halves, halves);
  bool right = true;
  for (size_t n = 0; n < halves.size(); ++n) {
    _Float16 h;
    std::memcpy(&h, &halves[n], sizeof h);
    right = right && same(wide[n], static_cast<float>(h));
  }
  CHECK(right);

  // Around every half, where rounding changes, and any other number.
  std::vector<float> singles = numbers<float>(4, false);
  for (float x : wide)
    for (float y : {std::nextafter(x, 1e9F), std::nextafter(x, -1e9F), x * (1 + 0x1p-11F),
                    x * (1 + 0x1p-11F + 0x1p-20F)})
      singles.push_back(y);
  const std::vector<uint16_t> narrow =
      computed<uint16_t>(Op::cast, DType::F16, DType::F32, singles, singles);
  right = true;
  for (size_t n = 0; n < singles.size(); ++n) {
    const auto expected = static_cast<_Float16>(singles[n]);
    uint16_t bits = 0;
    std::memcpy(&bits, &expected, sizeof bits);
    const bool is_nan = std::isnan(singles[n]) && (narrow[n] & 0x7fff) > 0x7c00;
    right = right && (is_nan || narrow[n] == bits);
  }
  CHECK(right);
}
#endif

TEST_CASE("the interpreter's bfloat16 is float32's upper half, rounded") {
  std::vector<uint16_t> words(65536);
  for (size_t n = 0; n < words.size(); ++n) words[n] = static_cast<uint16_t>(n);
  const std::vector<float> wide = computed<float>(Op::cast, DType::F32, DType::BF16, words, words);
  bool right = true;
  for (size_t n = 0; n < words.size(); ++n) {
    uint32_t bits = 0;
    std::memcpy(&bits, &wide[n], sizeof bits);
    right = right && bits == static_cast<uint32_t>(n) << 16;
  }
  CHECK(right);

  // The test takes each value, and the numbers around the midpoint between it and the next one; the
  // comparison is exact.
  right = true;
  std::vector<float> singles;
  for (size_t n = 0; n + 1 < 0x7f80; ++n) {
    const double middle = (static_cast<double>(wide[n]) + static_cast<double>(wide[n + 1])) / 2;
    const auto at = static_cast<float>(middle);
    for (float y : {at, std::nextafter(at, INFINITY), std::nextafter(at, -INFINITY)}) {
      singles.push_back(y);
      singles.push_back(-y);
    }
  }
  const std::vector<uint16_t> narrow =
      computed<uint16_t>(Op::cast, DType::BF16, DType::F32, singles, singles);
  for (size_t n = 0; n < singles.size(); ++n) {
    const size_t below = n / 6;
    const double middle =
        (static_cast<double>(wide[below]) + static_cast<double>(wide[below + 1])) / 2;
    const double size = std::fabs(static_cast<double>(singles[n]));
    const bool up = size > middle || (size == middle && below % 2 == 1);
    const auto expected = static_cast<uint16_t>((below + (up ? 1 : 0)) | (n % 2 ? 0x8000 : 0));
    right = right && narrow[n] == expected;
    // The step from float64 rounds once, too.
    right = right && double_to_brain(static_cast<double>(singles[n])) == expected;
  }
  CHECK(right);
  CHECK(double_to_brain(1.00390625 + 0x1p-40) == 0x3f81);
  CHECK(double_to_brain(1.00390625) == 0x3f80);
  CHECK(double_to_brain(1e300) == 0x7f80);
  CHECK(double_to_brain(-1e300) == 0xff80);
  CHECK(float_to_brain(std::nanf("1")) == 0x7fc0);
}

TEST_CASE("bfloat16 is promoted as ml_dtypes and the loops of NumPy do") {
  for (DType t : {DType::Bool, DType::I8, DType::U8, DType::BF16})
    CHECK(promote(t, DType::BF16) == DType::BF16);
  for (DType t : {DType::I16, DType::U16, DType::F16, DType::F32})
    CHECK(promote(DType::BF16, t) == DType::F32);
  for (DType t : {DType::I32, DType::U32, DType::I64, DType::U64, DType::F64})
    CHECK(promote(DType::BF16, t) == DType::F64);
  CHECK(promote(DType::BF16, DType::C64) == DType::C64);
  CHECK(weak_result(DType::BF16, Kind::Float) == DType::BF16);
  CHECK(weak_result(DType::BF16, Kind::Complex) == DType::C64);
  CHECK(can_cast(DType::BF16, DType::F32, Casting::Safe));
  CHECK_FALSE(can_cast(DType::BF16, DType::F16, Casting::Safe));
}
