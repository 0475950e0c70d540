// Plain calls of functions, answered without Python: the arrays are at rest, the arguments of the
// usual kinds. Every other call goes on to the function's own body, which says all there is to say.
#pragma once

#include <string>

#include "array/at_once_calls.h"
#include "convert.h"

namespace numbus::bindings {

// The arguments of a call, as vectorcall has them.
struct Given {
  PyObject* const* args;
  Py_ssize_t positional;
  PyObject* names;  // of those that follow the positional ones; may be null

  // Puts them into `values`, which stay null where nothing is given; false where one is unknown.
  template <size_t N>
  bool bind(const char* const (&parameters)[N], PyObject* (&values)[N], size_t by_position) const {
    if (positional > static_cast<Py_ssize_t>(by_position)) return false;
    for (Py_ssize_t k = 0; k < positional; ++k) values[k] = args[k];
    const Py_ssize_t keywords = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < keywords; ++k) {
      PyObject* name = PyTuple_GetItem(names, k);
      size_t at = 0;
      while (at < N && PyUnicode_CompareWithASCIIString(name, parameters[at]) != 0) ++at;
      if (at == N || values[at]) return false;
      values[at] = args[positional + k];
    }
    return true;
  }
};

// Null without an error: the call is of another kind.
using Quick = PyObject* (*)(const Given&);
Quick quick_named(const std::string& name);  // raises where there is none
bool only_views(Quick answer);               // whether no errors of floats can be met in it

// An array of ours with all its elements, that nothing pending writes; else null.
inline const Array* at_rest(PyObject* o) {
  if (!is_array(o) || as_masked(o).mask) return nullptr;
  const Array& a = as_masked(o).full;
  return readable_now(a) ? &a : nullptr;
}

// A Python int that int64 holds.
std::optional<int64_t> plain_int(PyObject* o);
// An axis of `n`, counted from the end where it is negative; null: `otherwise`; nothing where it is
// out of range.
std::optional<int> axis_of(PyObject* o, int n, int otherwise);
// The arrays at rest of a list or tuple, with an axis at least, and lists of numbers beside them;
// false where one is of another kind, or none is an array.
bool arrays_of(PyObject* o, std::vector<Array>& arrays);

// The type that a dtype, a name or a type of NumPy's stands for; nothing where numpy.dtype has to
// be asked, or has no answer.
std::optional<DType> usual_dtype(PyObject* o);

// What NumPy's `function` makes of a call whose arrays are few elements at rest on the host; null:
// another call, or one that NumPy refuses. Functions that draw random numbers need have no arrays;
// calls that ask for many numbers are others. most: elements of an operand, or numbers to draw
// or make.
enum class Few {
  Function,
  Writes,  // to its first operand, whose memory no other operand may share
  Draws,   // random numbers
  Makes,   // arrays, of numbers
  Method   // the same of a generator, its first argument
};
constexpr int64_t kFewElements = 4096;
PyObject* on_few(PyObject* function, const Given& g, Few kind, int64_t most = kFewElements);
// Sets whether on_few() answers calls, and returns what was set before. Tests of bodies that the
// registry has for the same functions turn it off.
bool answer_few(bool answer);

// Of the operator @; null: not such operands.
PyObject* quick_product(PyObject* x, PyObject* y);
PyObject* quick_accumulate(const Given& g);
PyObject* quick_append(const Given& g);
PyObject* quick_arange(const Given& g);
PyObject* quick_argpartition(const Given& g);
PyObject* quick_argsort(const Given& g);
PyObject* quick_array(const Given& g);
PyObject* quick_asanyarray(const Given& g);
PyObject* quick_asarray(const Given& g);
PyObject* quick_ascontiguousarray(const Given& g);
PyObject* quick_asfortranarray(const Given& g);
PyObject* quick_astype(const Given& g);
PyObject* quick_at(const Given& g);
PyObject* quick_atleast_1d(const Given& g);
PyObject* quick_atleast_2d(const Given& g);
PyObject* quick_atleast_3d(const Given& g);
PyObject* quick_bincount(const Given& g);
PyObject* quick_clamp(const Given& g);
PyObject* quick_clip(const Given& g);
PyObject* quick_column_stack(const Given& g);
PyObject* quick_concatenate(const Given& g);
PyObject* quick_conj(const Given& g);
PyObject* quick_copy(const Given& g);
PyObject* quick_copyto(const Given& g);
PyObject* quick_count_nonzero(const Given& g);
PyObject* quick_cumprod(const Given& g);
PyObject* quick_cumsum(const Given& g);
PyObject* quick_diag(const Given& g);
PyObject* quick_diagonal(const Given& g);
PyObject* quick_divmod(const Given& g);
PyObject* quick_einsum(const Given& g);
PyObject* quick_empty(const Given& g);
PyObject* quick_empty_like(const Given& g);
PyObject* quick_eye(const Given& g);
PyObject* quick_flatnonzero(const Given& g);
PyObject* quick_flatten(const Given& g);
PyObject* quick_flip(const Given& g);
PyObject* quick_frombuffer(const Given& g);
PyObject* quick_fromiter(const Given& g);
PyObject* quick_full(const Given& g);
PyObject* quick_full_like(const Given& g);
PyObject* quick_gather(const Given& g);
PyObject* quick_hstack(const Given& g);
PyObject* quick_identity(const Given& g);
PyObject* quick_imag(const Given& g);
PyObject* quick_index_add_in_place(const Given& g);
PyObject* quick_index_copy_in_place(const Given& g);
PyObject* quick_inner(const Given& g);
PyObject* quick_interp(const Given& g);
PyObject* quick_inv(const Given& g);
PyObject* quick_isfortran(const Given& g);
PyObject* quick_library(const Given& g);
PyObject* quick_matmul(const Given& g);
PyObject* quick_matrix_transpose(const Given& g);
PyObject* quick_matvec(const Given& g);
PyObject* quick_nonzero(const Given& g);
PyObject* quick_norm(const Given& g);
PyObject* quick_ones(const Given& g);
PyObject* quick_ones_like(const Given& g);
PyObject* quick_outer(const Given& g);
PyObject* quick_partition(const Given& g);
PyObject* quick_partition_in_place(const Given& g);
PyObject* quick_permute_dims(const Given& g);
PyObject* quick_put(const Given& g);
PyObject* quick_ravel(const Given& g);
PyObject* quick_real(const Given& g);
PyObject* quick_reduce(const Given& g);
PyObject* quick_reduceat(const Given& g);
PyObject* quick_repeat(const Given& g);
PyObject* quick_reshape(const Given& g);
PyObject* quick_result_type(const Given& g);
PyObject* quick_scatter_add_in_place(const Given& g);
PyObject* quick_scatter_in_place(const Given& g);
PyObject* quick_searchsorted(const Given& g);
PyObject* quick_set_flat(const Given& g);
PyObject* quick_shares_memory(const Given& g);
PyObject* quick_solve(const Given& g);
PyObject* quick_sort(const Given& g);
PyObject* quick_sort_in_place(const Given& g);
PyObject* quick_squeeze(const Given& g);
PyObject* quick_stack(const Given& g);
PyObject* quick_swapaxes(const Given& g);
PyObject* quick_take(const Given& g);
PyObject* quick_tobytes(const Given& g);
PyObject* quick_trace(const Given& g);
PyObject* quick_transpose(const Given& g);
PyObject* quick_vdot(const Given& g);
PyObject* quick_vecdot(const Given& g);
PyObject* quick_vecmat(const Given& g);
PyObject* quick_view(const Given& g);
PyObject* quick_vstack(const Given& g);
PyObject* quick_where(const Given& g);
PyObject* quick_zeros(const Given& g);
PyObject* quick_zeros_like(const Given& g);

}  // namespace numbus::bindings
