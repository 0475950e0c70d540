// Routines as plan nodes: opaque, with declared reads and writes.
#pragma once

#include <string>
#include <vector>

#include "lazy/window.h"
#include "vendor/blas.h"
#include "vendor/convolution.h"
#include "vendor/linalg.h"

namespace numbus {

// One call of a plan. The addresses of its operands, then those of its results, are the step's
// parameters.
struct CallStep {
  Routine routine;
  Op op;  // what is applied, where the routine applies an operation
  DType type;
  std::array<int64_t, kMaxAttributes> attributes;
  std::vector<DType> types;            // of the operands, then of the results
  std::vector<const Layout*> layouts;  // in the same order; the plan keeps them alive

  int operands() const { return row(routine).operands; }
  const Layout& in(int n) const { return *layouts[n]; }
  const Layout& out(int n = 0) const { return *layouts[operands() + n]; }
  DType out_type(int n = 0) const { return types[operands() + n]; }
};

// Whether it applies an operation of the table, one of many.
constexpr bool applies(Routine r) {
  return r == Routine::accumulate || r == Routine::reduceat || r == Routine::fold_runs;
}
// Those of linear algebra, in the order of vendor::Linalg.
constexpr bool is_linalg(Routine r) { return r >= Routine::inv && r <= Routine::lu; }
vendor::Linalg linalg_of(Routine r);
// Whether what a call met can be told by its first result.
constexpr bool may_look_at(const Instr& i) { return i.more == 0 || i.routine == Routine::slogdet; }
// The addresses are those of a step's operands and results.
vendor::LinalgCall linalg_call_of(const CallStep& c, char* const* addresses);
// Whether its entry for a GPU only queues work, and always the same for equal operands.
constexpr bool is_queued_only(Routine r) {
  return r == Routine::matmul || r == Routine::affine || r == Routine::convolve ||
         r == Routine::philox || r == Routine::normal || r == Routine::sort ||
         r == Routine::argsort || r == Routine::fold_runs;
}
std::string call_name(Routine routine, Op op);
// out = a @ b of three-dimensional layouts (stack, rows, columns); without addresses.
vendor::Product product_of(DType type, const Layout& a, const Layout& b, const Layout& out);
// How a convolution is done, as attributes of its call and back.
using ConvolutionKind = vendor::Convolution::Kind;
struct ConvolutionForm {
  vendor::Convolution::Pair stride{1, 1}, padding{0, 0}, dilation{1, 1};
  int64_t groups = 1;
};
std::array<int64_t, kMaxAttributes> attributes_of(ConvolutionKind kind, const ConvolutionForm& f,
                                                  bool tf32);
ConvolutionKind kind_of(const std::array<int64_t, kMaxAttributes>& attributes);
ConvolutionForm form_of(const std::array<int64_t, kMaxAttributes>& attributes);
vendor::Convolution convolution_of(const CallStep& c);
vendor::Convolution convolution_of(const std::array<int64_t, kMaxAttributes>& attributes, DType t,
                                   const Layout& a, const Layout& b, const Layout& out);
// Operations on floating-point numbers.
int64_t flops_of(const CallStep& c);
// Whether a call of a library's takes some ten milliseconds, and Ctrl-C is not to wait for it.
bool is_long(const CallStep& c, int64_t flops);

}  // namespace numbus
