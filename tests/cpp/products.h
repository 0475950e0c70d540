// Matrix products in every layout, with the result worked out element by element.
#pragma once

#include <doctest/doctest.h>

#include <complex>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "vendor/blas.h"

namespace numbus {

// A number of 16 bits: of float16, or of bfloat16, the first half of a float32.
template <bool kBrain>
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float f) { bits = kBrain ? float_to_brain(f) : float_to_half(f); }
  explicit operator float() const { return kBrain ? brain_to_float(bits) : half_to_float(bits); }
  bool operator!=(const Half& o) const {
    return static_cast<float>(*this) != static_cast<float>(o);
  }
};
using F16 = Half<false>;
using BF16 = Half<true>;
template <class T>
constexpr bool kIsHalf = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
// What products are added up in, and their factors.
template <class T>
using SumOf = std::conditional_t<kIsHalf<T>, float, T>;

template <class T>
constexpr DType dtype_of() {
  if (kIsHalf<T>) return std::is_same_v<T, F16> ? DType::F16 : DType::BF16;
  if (std::is_same_v<T, float>) return DType::F32;
  if (std::is_same_v<T, double>) return DType::F64;
  return std::is_same_v<T, std::complex<float>> ? DType::C64 : DType::C128;
}

// How an operand lies in memory.
struct Style {
  bool turned = false;       // columns are contiguous
  int64_t gap = 0;           // elements between lines
  bool interleaved = false;  // line i of all matrices before line i + 1 of any
  bool broadcast = false;    // one matrix for the whole stack
};

// The storage of one operand. It holds small integers, so that sums are exact in any order.
template <class T>
struct Operand {
  std::vector<T> storage;
  vendor::Matrix matrix;

  Operand(int64_t stack, int64_t rows, int64_t cols, Style style, int seed) {
    constexpr int64_t kItem = sizeof(T);
    const int64_t lines = style.turned ? cols : rows, line = style.turned ? rows : cols;
    if (style.broadcast) stack = 1;
    int64_t step = line + style.gap, next = lines * step;
    if (style.interleaved) {
      next = step;
      step *= stack;
    }
    storage.resize(static_cast<size_t>(stack * lines * (line + style.gap) + 1));
    uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
    auto draw = [&] {
      state = state * 1664525u + 1013904223u;
      return static_cast<int>(state >> 28) - 8;
    };
    for (T& x : storage) {
      if constexpr (std::is_floating_point_v<T> || kIsHalf<T>) {
        x = static_cast<T>(static_cast<SumOf<T>>(draw()));
      } else {
        const int real = draw();
        x = T(static_cast<typename T::value_type>(real),
              static_cast<typename T::value_type>(draw()));
      }
    }
    matrix.data = reinterpret_cast<char*>(storage.data());
    matrix.row_stride = (style.turned ? 1 : step) * kItem;
    matrix.col_stride = (style.turned ? step : 1) * kItem;
    matrix.stack_stride = style.broadcast ? 0 : next * kItem;
  }
  T& at(int64_t s, int64_t i, int64_t j) {
    return *reinterpret_cast<T*>(matrix.data + s * matrix.stack_stride + i * matrix.row_stride +
                                 j * matrix.col_stride);
  }
};

struct Extents {
  int64_t stack, rows, inner, cols;
};

// Runs `multiply` on copies that `prepare` may have moved, and compares all of the output's
// storage: gaps must keep what was there, and what was there must not show in the result.
template <class T>
void check_product(Extents n, Style a_style, Style b_style, Style out_style,
                   const std::function<void(vendor::Product&, size_t bytes[3])>& multiply) {
  Operand<T> a(n.stack, n.rows, n.inner, a_style, 1), b(n.stack, n.inner, n.cols, b_style, 2),
      out(n.stack, n.rows, n.cols, out_style, 3);
  std::memset(static_cast<void*>(out.storage.data()), 0xff, out.storage.size() * sizeof(T));  // NaN
  Operand<T> want = out;
  want.matrix.data = reinterpret_cast<char*>(want.storage.data());
  for (int64_t s = 0; s < n.stack; ++s) {
    for (int64_t i = 0; i < n.rows; ++i) {
      for (int64_t j = 0; j < n.cols; ++j) {
        using Sum = SumOf<T>;
        Sum sum(0);
        for (int64_t l = 0; l < n.inner; ++l)
          sum += static_cast<Sum>(a.at(s, i, l)) * static_cast<Sum>(b.at(s, l, j));
        want.at(s, i, j) = static_cast<T>(sum);
      }
    }
  }
  vendor::Product p;
  p.type = dtype_of<T>();
  p.stack = n.stack;
  p.rows = n.rows;
  p.cols = n.cols;
  p.inner = n.inner;
  p.a = a.matrix;
  p.b = b.matrix;
  p.out = out.matrix;
  INFO(std::string(name(p.type)) << " " << n.stack << " × (" << n.rows << ", " << n.inner << ") @ ("
                                 << n.inner << ", " << n.cols << "), turned " << a_style.turned
                                 << b_style.turned << out_style.turned << ", gaps " << a_style.gap
                                 << b_style.gap << out_style.gap);
  REQUIRE(vendor::blas_takes(p, kIsHalf<T> ? DeviceKind::Cuda : DeviceKind::Cpu));
  size_t bytes[3] = {a.storage.size() * sizeof(T), b.storage.size() * sizeof(T),
                     out.storage.size() * sizeof(T)};
  multiply(p, bytes);
  int wrong = 0;
  for (size_t i = 0; i < want.storage.size(); ++i) {
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the very bits, of NaN too
    const bool untouched = !std::memcmp(&out.storage[i], &want.storage[i], sizeof(T));
    if (!untouched && out.storage[i] != want.storage[i]) ++wrong;  // the signs of zeros may differ
  }
  CHECK(wrong == 0);
}

// Every combination of layouts for extents that reach each way through the code.
template <class T>
void check_all_products(const std::function<void(vendor::Product&, size_t bytes[3])>& multiply) {
  const Extents extents[] = {
      {1, 3, 4, 5},    {1, 1, 1, 1}, {1, 7, 5, 1}, {1, 1, 5, 7}, {1, 1, 9, 1}, {1, 6, 1, 4},
      {1, 33, 40, 17}, {3, 4, 5, 6}, {2, 1, 5, 3}, {2, 5, 3, 1}, {4, 1, 6, 1}, {0, 3, 4, 5},
      {2, 0, 4, 5},    {2, 3, 4, 0}, {1, 3, 0, 5}, {3, 2, 0, 4}, {2, 1, 0, 1},
  };
  for (const Extents& n : extents) {
    for (int which = 0; which < 64; ++which) {
      auto style = [&](int operand) {
        return Style{.turned = (which >> operand & 1) != 0,
                     .gap = which >> (operand + 3) & 1 ? 3 : 0,
                     .interleaved = false,
                     .broadcast = false};
      };
      check_product<T>(n, style(0), style(1), style(2), multiply);
    }
    for (int which = 0; which < 32; ++which) {
      Style a{.turned = (which & 1) != 0, .interleaved = (which & 2) != 0};
      Style b{.turned = (which & 4) != 0},
          out{.turned = (which & 8) != 0, .interleaved = a.interleaved};
      b.broadcast = (which & 16) != 0;
      check_product<T>(n, a, b, out, multiply);
      check_product<T>(n, {.broadcast = true}, a, out, multiply);
    }
  }
}

}  // namespace numbus
