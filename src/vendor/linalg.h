// Linear algebra: on a CPU by the loops of NumPy's own ufuncs, stacks of matrices on many threads
// with NumPy's bits; on a GPU by cuSOLVER.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/layout.h"
#include "device/device.h"

namespace numbus::vendor {

// On a CPU in float64 or complex128. Each has two forms; those with one have it twice.
enum class Linalg : uint8_t {
  Inv,
  Solve,
  Det,
  Slogdet,
  Cholesky,
  Eigvalsh,
  Eigh,
  Eigvals,
  Eig,
  Svdvals,
  Svd,
  Qr,
  QrQ,
  Lu
};
constexpr size_t kLinalgs = static_cast<size_t>(Linalg::Lu) + 1;

struct LinalgForm {
  const char* ufunc;      // NumPy's name; null: it has none
  const char* signature;  // and what it says of axes, without blanks
};
const LinalgForm& form_of(Linalg what, bool other);

constexpr int kMostCoreDims = 3;
// The axes of each operand, then of each result in our order, as letters of the signature: "mn".
std::vector<std::string_view> axes_of(Linalg what, bool other);
// The type of a result of matrices of type t.
DType result_type(Linalg what, int result, DType t);
// Whether matrices may have no result, which NumPy tells by a LinAlgError.
bool may_fail(Linalg what, bool other);
// What that error says.
const char* failure_of(Linalg what);

// The inner loop of one of NumPy's ufuncs: matrices of each operand and result; their number and
// the extents of the letters, and strides in bytes between matrices, then of the axes.
using LinalgLoop = void (*)(char** args, const intptr_t* extents, const intptr_t* strides,
                            void* data);
void set_linalg_loop(Linalg what, bool other, DType t, LinalgLoop loop, void* data);
// Whether all of them are known.
bool has_linalg_loops();

// Layouts and addresses of operands, then of results, with the same axes before their own. Raises
// where a matrix has no result.
struct LinalgCall {
  Linalg what;
  bool other;
  DType type;
  std::vector<const Layout*> layouts;
  std::vector<char*> data;
};
void linalg_cpu(const LinalgCall& c);
// On a GPU all arrays are dense, their stacks in C order, and matrices lie by rows or, where this
// is true, by columns; of the first operand's type and shape.
bool lies_by_columns(Linalg what, size_t array, DType type, int64_t rows, int64_t columns);
// For arrays that lie so, in order on the device's stream, without operands in the place of
// results. Where a matrix may have no result, it waits for the GPU and raises.
void linalg_cuda(Device& d, const LinalgCall& c);
// The processor's flags of the first determinants, or logarithms, that are infinite or no numbers,
// done again; further results are left out.
unsigned linalg_flags(const LinalgCall& c);
// Multiplications of one matrix, roughly.
int64_t linalg_work(Linalg what, int64_t rows, int64_t columns);

}  // namespace numbus::vendor
