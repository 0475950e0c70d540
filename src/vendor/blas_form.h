// A product in the terms of gemm: row-major operands or transposes of them, strides in elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "vendor/blas.h"

namespace numbus::vendor {

// One operand: row-major as it lies in memory; `transposed` where the product takes its transpose.
struct GemmOperand {
  char* data = nullptr;
  bool transposed = false;
  int64_t line = 1;   // elements from one row to the next
  int64_t stack = 0;  // elements from one matrix to the next
};

struct GemmForm {
  DType type = DType::F64;
  int64_t stack = 0, rows = 0, cols = 0, inner = 0;
  bool add = false;
  bool tf32 = false;
  GemmOperand a, b, out;  // `out` is never transposed: the whole problem is, instead

  bool empty() const { return stack == 0 || rows == 0 || cols == 0; }
  // Whether every number fits a 32-bit integer.
  bool narrow() const;
  // Calls f(pointer, bytes) for the contiguous pieces of `out`, as few as there can be.
  template <class F>
  void each_run_of_out(F f) const;
};

// Nothing where gemm cannot do it without copies.
std::optional<GemmForm> gemm_form(const Product& p);

// For the caller's promise that blas_takes(): raises as an internal error where it is broken.
GemmForm require_gemm_form(const Product& p);

// Whether the library of that device takes 64-bit integers; false where there is no library.
bool blas_is_wide();
bool cublas_is_wide();

template <class F>
void GemmForm::each_run_of_out(F f) const {
  const size_t item = static_cast<size_t>(itemsize(type));
  const bool whole = out.line == cols || rows == 1;
  const int64_t matrix = rows * cols;
  if (whole && (stack == 1 || out.stack == matrix)) {
    f(out.data, static_cast<size_t>(stack * matrix) * item);
    return;
  }
  for (int64_t s = 0; s < stack; ++s) {
    char* start = out.data + s * out.stack * static_cast<int64_t>(item);
    if (whole) {
      f(start, static_cast<size_t>(matrix) * item);
      continue;
    }
    for (int64_t i = 0; i < rows; ++i) {
      f(start + i * out.line * static_cast<int64_t>(item), static_cast<size_t>(cols) * item);
    }
  }
}

}  // namespace numbus::vendor
