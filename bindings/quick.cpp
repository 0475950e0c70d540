// The functions whose plain calls are answered without Python, by name.
#include "quick.h"

#include "base/error.h"

namespace numbus::bindings {
namespace {

struct Entry {
  const char* name;
  Quick answer;
  bool views = false;  // it makes views at the most, of which nothing can be warned
};

constexpr Entry kEntries[] = {
    {"accumulate", quick_accumulate},
    {"append", quick_append},
    {"arange", quick_arange},
    {"argpartition", quick_argpartition},
    {"argsort", quick_argsort},
    {"array", quick_array},
    {"asanyarray", quick_asanyarray},
    {"asarray", quick_asarray},
    {"ascontiguousarray", quick_ascontiguousarray},
    {"asfortranarray", quick_asfortranarray},
    {"astype", quick_astype},
    {"at", quick_at},
    {"atleast_1d", quick_atleast_1d, true},
    {"atleast_2d", quick_atleast_2d, true},
    {"atleast_3d", quick_atleast_3d, true},
    {"bincount", quick_bincount},
    {"clamp", quick_clamp},
    {"clip", quick_clip},
    {"column_stack", quick_column_stack},
    {"concatenate", quick_concatenate},
    {"conj", quick_conj, true},
    {"copy", quick_copy},
    {"copyto", quick_copyto},
    {"count_nonzero", quick_count_nonzero},
    {"cumprod", quick_cumprod},
    {"cumsum", quick_cumsum},
    {"diag", quick_diag},
    {"diagonal", quick_diagonal, true},
    {"divmod", quick_divmod},
    {"einsum", quick_einsum},
    {"empty", quick_empty},
    {"empty_like", quick_empty_like},
    {"eye", quick_eye},
    {"flatnonzero", quick_flatnonzero},
    {"flatten", quick_flatten},
    {"flip", quick_flip, true},
    {"frombuffer", quick_frombuffer},
    {"fromiter", quick_fromiter},
    {"full", quick_full},
    {"full_like", quick_full_like},
    {"gather", quick_gather},
    {"hstack", quick_hstack},
    {"identity", quick_identity},
    {"imag", quick_imag},
    {"index_add_in_place", quick_index_add_in_place},
    {"index_copy_in_place", quick_index_copy_in_place},
    {"inner", quick_inner},
    {"interp", quick_interp},
    {"inv", quick_inv},
    {"isfortran", quick_isfortran, true},
    {"library", quick_library},
    {"matmul", quick_matmul},
    {"matrix_transpose", quick_matrix_transpose, true},
    {"matvec", quick_matvec},
    {"nonzero", quick_nonzero},
    {"norm", quick_norm},
    {"ones", quick_ones},
    {"ones_like", quick_ones_like},
    {"outer", quick_outer},
    {"partition", quick_partition},
    {"partition_in_place", quick_partition_in_place},
    {"permute_dims", quick_permute_dims, true},
    {"put", quick_put},
    {"ravel", quick_ravel, true},
    {"real", quick_real},
    {"reduce", quick_reduce},
    {"reduceat", quick_reduceat},
    {"repeat", quick_repeat},
    {"reshape", quick_reshape, true},
    {"result_type", quick_result_type, true},
    {"scatter_add_in_place", quick_scatter_add_in_place},
    {"scatter_in_place", quick_scatter_in_place},
    {"searchsorted", quick_searchsorted},
    {"set_flat", quick_set_flat},
    {"shares_memory", quick_shares_memory},
    {"solve", quick_solve},
    {"sort", quick_sort},
    {"sort_in_place", quick_sort_in_place},
    {"squeeze", quick_squeeze, true},
    {"stack", quick_stack},
    {"swapaxes", quick_swapaxes, true},
    {"take", quick_take},
    {"tobytes", quick_tobytes},
    {"trace", quick_trace},
    {"transpose", quick_transpose, true},
    {"vdot", quick_vdot},
    {"vecdot", quick_vecdot},
    {"vecmat", quick_vecmat},
    {"view", quick_view, true},
    {"vstack", quick_vstack},
    {"where", quick_where},
    {"zeros", quick_zeros},
    {"zeros_like", quick_zeros_like},
};

}  // namespace

Quick quick_named(const std::string& name) {
  for (const Entry& e : kEntries)
    if (name == e.name) return e.answer;
  raise(ErrorKind::Runtime, "quick", "nothing answers this function's calls", name,
        "a name in bindings/quick.cpp");
}

bool only_views(Quick answer) {
  for (const Entry& e : kEntries)
    if (e.answer == answer) return e.views;
  return false;
}

std::optional<int64_t> plain_int(PyObject* o) {
  int overflow = 0;
  if (!PyLong_CheckExact(o)) return {};
  const int64_t n = PyLong_AsLongLongAndOverflow(o, &overflow);
  return overflow ? std::nullopt : std::optional(n);
}

std::optional<int> axis_of(PyObject* o, int n, int otherwise) {
  const std::optional<int64_t> given = o ? plain_int(o) : otherwise;
  if (!given || *given < -n || *given >= n) return {};
  return static_cast<int>(*given < 0 ? *given + n : *given);
}

std::optional<DType> usual_dtype(PyObject* o) {
  static PyObject* const known = PyDict_New();
  constexpr Py_ssize_t kMost = 256;
  for (int t = 0; t < kNumDTypes; ++t)
    if (dtype_object(static_cast<DType>(t)) == o) return static_cast<DType>(t);
  auto is = [&](PyTypeObject& type) { return o == reinterpret_cast<PyObject*>(&type); };
  if (is(PyFloat_Type)) return DType::F64;
  if (is(PyLong_Type)) return DType::I64;
  if (is(PyBool_Type)) return DType::Bool;
  if (is(PyComplex_Type)) return DType::C128;
  // What a name or a type of NumPy's means stays as it is; other types may change their dtype.
  const bool text = PyUnicode_CheckExact(o);
  if (!text && !PyType_Check(o)) return {};
  if (PyObject* found = PyDict_GetItem(known, o)) return static_cast<DType>(PyLong_AsLong(found));
  static PyObject* const scalar =
      nb::object(nb::module_::import_("numpy").attr("generic")).release().ptr();
  if (!text && PyObject_IsSubclass(o, scalar) != 1) return {};
  std::optional<DType> type;
  try {
    type = find_dtype(o);
  } catch (nb::python_error&) {
    return {};  // whoever is asked next says why
  }
  if (type && PyDict_Size(known) < kMost)
    PyDict_SetItem(known, o, nb::int_(static_cast<int>(*type)).ptr());
  return type;
}

}  // namespace numbus::bindings
