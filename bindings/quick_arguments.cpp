// Reads the usual arguments of compiled functions.
#include "quick_arguments.h"

#include <bit>

#include "array/placement.h"
#include "frontend/types.h"
#include "plain_numbers.h"

namespace numbus::bindings {

namespace {

// What tells arrays apart beside dtype and axes.
uint32_t properties(frontend::Order order, bool readonly, bool ours) {
  return static_cast<uint32_t>(order) << 16 | static_cast<uint32_t>(readonly) << 20 |
         static_cast<uint32_t>(ours) << 21;
}

frontend::Order order_of(bool rows, bool columns) {
  return rows ? frontend::Order::C : columns ? frontend::Order::F : frontend::Order::Any;
}

}  // namespace

bool QuickArguments::array(char* data, DType t, std::span<const int64_t> shape,
                           const int64_t* strides, uint32_t what) {
  const size_t n = shape.size();
  if (words_used_ + 2 + 2 * n > kMostWords) return false;
  int64_t* to = words_.data() + words_used_;
  *to++ = reinterpret_cast<int64_t>(data);
  *to++ = 0;
  for (size_t k = 0; k < n; ++k) {
    if (shape[k] == 0) return false;
    to[k] = shape[k];
    to[n + k] = strides[k];
  }
  words_used_ += 2 + 2 * n;
  return code(kArray, static_cast<uint32_t>(t) | static_cast<uint32_t>(n) << 8 | what);
}

bool QuickArguments::add_numpy(PyObject* o) {
  const std::optional<NumpyMemory> m = numpy_memory(o);
  return m && array(m->data, m->dtype, m->shape, m->strides.data(),
                    properties(order_of(m->rows, m->columns), !m->writeable, false));
}

bool QuickArguments::add_ours(PyObject* o) {
  if (as_masked(o).mask || placement::on || lent_ == bases_.size()) return false;
  const Array& a = as_masked(o).full;
  Base* base = a.base.get();
  if (base->device != &cpu_device()) return false;
  // As if a buffer were exported for the length of the call.
  if (a.writeable) before_write(a);
  char* data = data_of(a, "exported as a buffer");
  ++base->shared;
  bases_[lent_++] = base;
  return array(
      data, a.dtype, a.shape(), a.layout->strides(),
      properties(order_of(a.layout->c_contiguous(), a.layout->f_contiguous()), !a.writeable, true));
}

bool QuickArguments::read(nb::handle tuple) {
  for (Py_ssize_t k = 0, n = tuple_size(tuple.ptr()); k < n; ++k)
    if (!add(tuple_item(tuple.ptr(), k))) return false;
  return true;
}

bool QuickArguments::add(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  if (type == &PyFloat_Type)
    return number(DType::F64, true, std::bit_cast<int64_t>(float_value(o)));
  if (type == &PyLong_Type) {
    int64_t value;
    return int_value(o, value) && number(DType::I64, true, value);
  }
  if (is_plain_numpy(o)) return add_numpy(o);
  if (is_array(o)) return add_ours(o);
  if (type == &PyBool_Type) return number(DType::Bool, true, o == Py_True);
  if (o == Py_None) return code(kNone, 0);
  if (PyComplex_CheckExact(o)) {
    if (words_used_ + 2 > kMostWords) return false;
    words_[words_used_++] = std::bit_cast<int64_t>(PyComplex_RealAsDouble(o));
    return number(DType::C128, true, std::bit_cast<int64_t>(PyComplex_ImagAsDouble(o)));
  }
  if (PyTuple_CheckExact(o)) {
    const Py_ssize_t n = tuple_size(o);
    if (n > static_cast<Py_ssize_t>(kMostCodes) || !code(kTuple, static_cast<uint32_t>(n)))
      return false;
    for (Py_ssize_t k = 0; k < n; ++k)
      if (!add(tuple_item(o, k))) return false;
    return true;
  }
  Scalar s;
  DType t;
  if (!read_numpy_scalar(o, s, t)) return false;
  int64_t words[2];
  const size_t n = number_words(s, t, words);
  if (words_used_ + 2 > kMostWords) return false;
  if (n == 2) words_[words_used_++] = words[0];
  return number(t, false, words[n - 1]);
}

}  // namespace numbus::bindings
