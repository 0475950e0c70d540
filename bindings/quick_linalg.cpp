// Inverses and solutions of small systems, and norms.
#include "base/error.h"
#include "quick.h"
#include "vendor/library.h"

namespace numbus::bindings {
namespace {

// Looks for a BLAS where nothing has needed one yet.
void look_for_library() {
  static bool looked = false;
  if (looked || vendor::is_loaded("blas")) return;
  looked = true;
  nb::module_::import_("numbus.core.libraries").attr("offer")("blas");
  try {
    vendor::require("blas");
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): whoever needs one says so
  }
}

PyObject* solve(PyObject* matrix, PyObject* right) {
  const Array *a = at_rest(matrix), *b = right ? at_rest(right) : nullptr;
  if (!a || (right && !b) || a->dtype != DType::F64 || !may_work_at_once()) return nullptr;
  look_for_library();
  std::optional<Array> made = solve_at_once(*a, b);
  return made ? wrap(std::move(*made)) : nullptr;
}

}  // namespace

PyObject* quick_inv(const Given& g) {
  return g.positional == 1 && !g.names ? solve(g.args[0], nullptr) : nullptr;
}

PyObject* quick_solve(const Given& g) {
  return g.positional == 2 && !g.names ? solve(g.args[0], g.args[1]) : nullptr;
}

PyObject* quick_norm(const Given& g) {
  if (g.positional != 1 || g.names) return nullptr;
  const Array* x = at_rest(g.args[0]);
  if (!x || (x->dtype != DType::F32 && x->dtype != DType::F64) || x->ndim() == 0 || x->size() == 0)
    return nullptr;
  mark_line();
  const Arg factors[2] = {Arg(x), Arg(x)};
  const Masked squares = apply(Op::multiply, factors);
  const uint64_t all = all_axes(x->ndim());
  const Array sum = reduce(Reduction::Sum, squares.full, all, false, {}, nullptr, 0);
  const Arg operand(&sum);
  return wrap_result(apply(Op::sqrt, {&operand, 1}));
}

}  // namespace numbus::bindings
