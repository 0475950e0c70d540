// Which products gemm takes as they stand, and how it is to be called for them.
#include "vendor/blas_form.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace numbus::vendor {
namespace {

constexpr int64_t kNarrow = std::numeric_limits<int32_t>::max();

Matrix transpose(Matrix m) {
  std::swap(m.row_stride, m.col_stride);
  return m;
}

bool row_major(const Matrix& m, int64_t rows, int64_t cols, int64_t item, GemmOperand* found) {
  const int64_t shortest = std::max<int64_t>(cols, 1);
  if (cols > 1 && m.col_stride != item) return false;
  if (rows > 1 && (m.row_stride % item != 0 || m.row_stride / item < shortest)) return false;
  found->line = rows > 1 ? m.row_stride / item : shortest;
  return true;
}

bool describe(const Matrix& m, int64_t rows, int64_t cols, int64_t stack, int64_t item,
              GemmOperand* found) {
  found->data = m.data;
  found->line = std::max<int64_t>(cols, 1);
  if (stack == 0 || rows == 0 || cols == 0) return true;  // whatever its strides
  if (reinterpret_cast<uintptr_t>(m.data) % static_cast<uintptr_t>(item) != 0) return false;
  if (stack > 1) {
    if (m.stack_stride < 0 || m.stack_stride % item != 0) return false;
    found->stack = m.stack_stride / item;
  }
  found->transposed = false;
  if (row_major(m, rows, cols, item, found)) return true;
  found->transposed = true;
  return row_major(transpose(m), cols, rows, item, found);
}

// A stack of matrices times one matrix is one tall matrix times that matrix.
void fold_stack(GemmForm* f) {
  if (f->stack < 2 || f->b.stack != 0 || f->a.transposed) return;
  if (f->rows > kNarrow / f->stack) return;
  const int64_t a_line = f->rows == 1 ? f->a.stack : f->a.line;
  const int64_t out_line = f->rows == 1 ? f->out.stack : f->out.line;
  if (a_line < f->a.line || out_line < f->out.line) return;
  if (f->a.stack != f->rows * a_line || f->out.stack != f->rows * out_line) return;
  f->a.line = a_line;
  f->out.line = out_line;
  f->rows *= f->stack;
  f->stack = 1;
  f->a.stack = f->out.stack = 0;
}

}  // namespace

bool GemmForm::narrow() const {
  return std::max({stack, rows, cols, inner, a.line, b.line, out.line}) <= kNarrow;
}

std::optional<GemmForm> gemm_form(const Product& p) {
  if (!blas_takes(p.type, DeviceKind::Cuda)) return {};
  const int64_t item = itemsize(p.type);
  GemmForm f{.type = p.type,
             .stack = p.stack,
             .rows = p.rows,
             .cols = p.cols,
             .inner = p.inner,
             .add = p.add,
             .tf32 = p.tf32,
             .a = {},
             .b = {},
             .out = {}};
  if (!describe(p.out, p.rows, p.cols, p.stack, item, &f.out)) return {};
  const bool turned = f.out.transposed;
  if (turned) {  // outᵀ = bᵀ aᵀ
    f.out.transposed = false;
    std::swap(f.rows, f.cols);
  }
  const Matrix a = turned ? transpose(p.b) : p.a;
  const Matrix b = turned ? transpose(p.a) : p.b;
  if (!describe(a, f.rows, f.inner, f.stack, item, &f.a)) return {};
  if (!describe(b, f.inner, f.cols, f.stack, item, &f.b)) return {};
  if (f.stack > 1 && !f.empty() && f.out.stack == 0) return {};
  fold_stack(&f);
  return f;
}

GemmForm require_gemm_form(const Product& p) {
  std::optional<GemmForm> form = gemm_form(p);
  if (!form) {
    raise(ErrorKind::Runtime, "matmul", "internal error",
          "operands that BLAS does not take as they lie", "a product that blas_takes()");
  }
  return *form;
}

bool blas_takes(DType t, DeviceKind device) {
  return t == DType::F32 || t == DType::F64 || t == DType::C64 || t == DType::C128 ||
         (is_half(t) && device != DeviceKind::Cpu);
}

bool blas_takes(const Product& p, DeviceKind device) {
  if (!blas_takes(p.type, device)) return false;
  std::optional<GemmForm> form = gemm_form(p);
  if (!form) return false;
  if (form->narrow()) return true;
  return device == DeviceKind::Cuda ? cublas_is_wide() : blas_is_wide();
}

}  // namespace numbus::vendor
