// Calls of NumPy's functions on the memory of arrays of ours: numbus.core.operands.library() of
// operands that a CPU can read.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "numpy_objects.h"
#include "quick.h"
#include "scalars.h"

namespace numbus::bindings {
namespace {

// What NumPy is given for the operands of one call.
struct Lent {
  bool few = false;         // only arrays of few elements at rest, and plain objects beside them
  int64_t most = 0;         // elements of an array then
  int64_t samples = 0;      // and numbers that ask for no more samples; 0: numbers of any kind
  Device* there = nullptr;  // the device of the arrays
  struct Pair {
    PyObject* real;  // NumPy's
    nb::object ours;
    Lease lease;  // of what is ours
  };
  std::vector<Pair> arrays;

  static constexpr int kDepth = 16;  // of lists in lists; those that are deeper are Python's
  static constexpr Py_ssize_t kFewItems = 64;
  static constexpr size_t kReserved = 3;

  // The operand as NumPy is to see it; invalid without an error: Python has to look at it.
  nb::object give(PyObject* o, int depth = 0) {
    if (is_array(o)) return give_array(o);
    PyTypeObject* type = Py_TYPE(o);
    if (samples > 0 && type == &PyLong_Type && !asks_for_few(o)) return {};
    if (o == Py_None || type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
        type == &PyUnicode_Type || type == &PyComplex_Type)
      return nb::borrow(o);
    const bool list = PyList_CheckExact(o);
    if (list || PyTuple_CheckExact(o))
      return depth < kDepth ? give_items(o, list, depth + 1) : nb::object();
    if (is_generic(o) || PyTuple_Check(o) || PyDict_Check(o) || PySlice_Check(o)) return {};
    if (few && !PyType_Check(o) && !numpy_scalar_dtype(type) && !is_dtype(o)) return {};
    return plain_scalar(o);
  }

  // Whether all are given; `into` holds what for.
  bool give_all(PyObject* args, PyObject* keywords, nb::object& positional, nb::object& named) {
    const bool list = PyList_CheckExact(args);
    if (!list && !PyTuple_CheckExact(args)) return false;
    const Py_ssize_t n = list ? PyList_Size(args) : PyTuple_Size(args);
    positional = nb::steal(PyTuple_New(n));
    for (Py_ssize_t k = 0; k < n; ++k) {
      nb::object x = give(list ? PyList_GetItem(args, k) : PyTuple_GetItem(args, k));
      if (!x.is_valid()) return false;
      PyTuple_SetItem(positional.ptr(), k, x.release().ptr());
    }
    if (!PyDict_CheckExact(keywords)) return false;
    if (PyDict_Size(keywords) == 0) return true;
    named = nb::dict();
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(keywords, &at, &key, &value)) {
      if (PyUnicode_CompareWithASCIIString(key, "out") == 0) keep(value);
      const nb::object x = give(value);
      if (!x.is_valid()) return false;
      PyDict_SetItem(named.ptr(), key, x.ptr());
    }
    return true;
  }

  static bool meet(const NumpyMemory& m, const NumpyMemory& n) {
    const StridedBytes one(m.shape, m.strides, itemsize(m.dtype));
    const StridedBytes other(n.shape, n.strides, itemsize(n.dtype));
    return m.data + one.low < n.data + other.high && n.data + other.low < m.data + one.high;
  }

  // Whether the first array is in the memory of another one, as far as can be seen.
  bool first_is_shared() const {
    if (arrays.empty()) return false;
    const Array& first = as_masked(arrays[0].ours.ptr()).full;
    return std::any_of(arrays.begin() + 1, arrays.end(), [&](const Pair& p) {
      const Array& other = as_masked(p.ours.ptr()).full;
      if (other.base.get() == first.base.get()) return true;
      if (other.base->owned && first.base->owned) return false;
      const std::optional<NumpyMemory> m = numpy_memory(p.real), n = numpy_memory(arrays[0].real);
      return !m || !n || meet(*m, *n);
    });
  }

  // A result of NumPy's as ours: the same object for what was given, an alias for a view of that.
  nb::object take(nb::handle x) {
    PyObject* o = x.ptr();
    if (is_plain_numpy(o)) return take_array(o);
    if (PyList_CheckExact(o)) {
      nb::list made;
      for (Py_ssize_t k = 0; k < PyList_Size(o); ++k) made.append(take(PyList_GetItem(o, k)));
      return made;
    }
    const bool tuple = PyTuple_Check(o), exact = PyTuple_CheckExact(o);
    if (tuple && (exact || nb::hasattr(x, "_make"))) {
      nb::list made;
      for (Py_ssize_t k = 0; k < PyTuple_Size(o); ++k) made.append(take(PyTuple_GetItem(o, k)));
      return exact ? nb::object(nb::tuple(made)) : x.attr("_make")(made);
    }
    if (PyDict_CheckExact(o)) {
      nb::dict made;
      PyObject *key, *value;
      Py_ssize_t at = 0;
      while (PyDict_Next(o, &at, &key, &value)) made[nb::handle(key)] = take(value);
      return made;
    }
    return library_number(x);
  }

 private:
  int64_t asked_ = 1;  // samples, if all integers are extents

  bool asks_for_few(PyObject* o) {
    const std::optional<int64_t> n = plain_int(o);
    if (!n || *n > samples) return false;
    if (*n > 1) asked_ *= *n;
    return asked_ <= samples;
  }

  static bool is_dtype(PyObject* o) {
    for (int t = 0; t < kNumDTypes; ++t)
      if (dtype_object(static_cast<DType>(t)) == o) return true;
    return false;
  }

  nb::object give_array(PyObject* o) {
    Masked& m = as_masked(o);
    if (!m.full.base->device->host_readable()) return {};
    if (few && m.full.dtype == DType::BF16) return {};  // Python's numbers are not weak to NumPy
    if (few && (m.mask || m.full.size() > most || m.full.base->pending() || m.full.base->failure))
      return {};
    const Array& a = m.settled();
    Lease lease(a);
    // What is pending may be carried out on another device than it is open for.
    Device* device = a.base->device;
    if (!device->host_readable() || (there && there != device)) return {};
    there = device;
    PyObject* real = lease.view();
    if (arrays.empty()) arrays.reserve(kReserved);
    arrays.push_back({real, nb::borrow(o), std::move(lease)});
    return nb::borrow(real);
  }

  nb::object give_items(PyObject* o, bool list, int depth) {
    const Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);
    if (few && n > kFewItems) return {};
    nb::object changed;
    for (Py_ssize_t k = 0; k < n; ++k) {
      PyObject* item = list ? PyList_GetItem(o, k) : PyTuple_GetItem(o, k);
      nb::object given = give(item, depth);
      if (!given.is_valid()) return {};
      if (given.ptr() == item) continue;
      if (!changed.is_valid()) changed = nb::steal(PySequence_List(o));
      PyList_SetItem(changed.ptr(), k, given.release().ptr());
    }
    if (!changed.is_valid()) return nb::borrow(o);
    return list ? changed : nb::steal(PyList_AsTuple(changed.ptr()));
  }

  // Arrays of NumPy's that a caller gave for results stay as they are.
  void keep(PyObject* out) {
    nb::object all =
        PyTuple_Check(out) ? nb::borrow(out) : nb::object(nb::make_tuple(nb::handle(out)));
    for (Py_ssize_t k = 0; k < PyTuple_Size(all.ptr()); ++k) {
      PyObject* one = PyTuple_GetItem(all.ptr(), k);
      if (is_plain_numpy(one)) arrays.push_back({one, nb::borrow(one), {}});
    }
  }

  nb::object take_array(PyObject* o) {
    for (const Pair& p : arrays)
      if (p.real == o) return p.ours;
    const std::optional<NumpyMemory> m = numpy_memory(o);
    if (!m) return nb::borrow(o);
    if (!m->owns && is_part(*m)) return nb::steal(wrap(import_numpy(o, false, true)));
    // Few elements are copied: to keep NumPy's object for as long as ours costs more.
    constexpr int64_t kCopied = 1024;
    if (m->rows && m->writeable) {
      int64_t size = itemsize(m->dtype);
      for (int64_t extent : m->shape) size *= extent;
      if (size <= kCopied) {
        Array made = empty(m->shape, m->dtype);
        made.base->ensure_data();
        if (made.base->device->host_readable()) {
          std::memcpy(made.base->data, m->data, static_cast<size_t>(size));
          return nb::steal(wrap(std::move(made)));
        }
      }
    }
    return nb::steal(wrap(import_numpy(o, false, false)));
  }

  // Whether it shares memory with what was given.
  bool is_part(const NumpyMemory& m) const {
    return std::any_of(arrays.begin(), arrays.end(), [&](const Pair& p) {
      const std::optional<NumpyMemory> of = numpy_memory(p.real);
      return of && meet(m, *of);
    });
  }
};

bool answers_few = true;

// Whether NumPy has refused an object whose __array__ gives no array of its own: Python's body
// takes such.
bool gave_ours(nb::python_error& error) {
  if (!error.matches(PyExc_ValueError)) return false;
  static PyObject* const refused =
      nb::object(nb::module_::import_("numbus.core.given").attr("refused")).release().ptr();
  return nb::cast<bool>(nb::handle(refused)(error.value()));
}

}  // namespace

bool answer_few(bool answer) { return std::exchange(answers_few, answer); }

PyObject* quick_library(const Given& g) {
  if (g.positional != 3 || g.names) return nullptr;
  Lent lent;
  nb::object positional, named;
  if (!lent.give_all(g.args[1], g.args[2], positional, named)) return nullptr;
  if (!lent.there && !default_device().host_readable()) return nullptr;
  const DeviceOfNew follow(lent.there);
  nb::object made = nb::steal(PyObject_Call(g.args[0], positional.ptr(), named.ptr()));
  if (!made.is_valid()) {
    nb::python_error error;
    if (gave_ours(error)) return nullptr;
    throw error;
  }
  positional.reset();
  named.reset();
  return lent.take(made).release().ptr();
}

PyObject* on_few(PyObject* function, const Given& g, Few kind, int64_t most) {
  constexpr Py_ssize_t kMost = 8;
  const Py_ssize_t n = g.positional + (g.names ? PyTuple_Size(g.names) : 0);
  if (!answers_few || n > kMost || observer()) return nullptr;
  Lent lent;
  lent.few = true;
  const bool draws = kind == Few::Draws || kind == Few::Method || kind == Few::Makes;
  lent.most = draws ? std::min(most, kFewElements) : most;
  lent.samples = draws ? most : 0;
  nb::object given[kMost];
  PyObject* args[kMost];
  for (Py_ssize_t k = 0; k < n; ++k) {
    given[k] = k == 0 && kind == Few::Method ? nb::borrow(g.args[0]) : lent.give(g.args[k]);
    if (!given[k].is_valid()) return nullptr;
    args[k] = given[k].ptr();
  }
  if (!lent.there && (!draws || !default_device().host_readable())) return nullptr;
  if (kind == Few::Writes && lent.first_is_shared()) return nullptr;
  const DeviceOfNew follow(lent.there);
  nb::object made =
      nb::steal(PyObject_Vectorcall(function, args, static_cast<size_t>(g.positional), g.names));
  for (Py_ssize_t k = 0; k < n; ++k) given[k].reset();
  if (made.is_valid()) return lent.take(made).release().ptr();
  // What NumPy refuses is left to the function itself, which says so in its own words.
  for (PyObject* refusal : {PyExc_TypeError, PyExc_ValueError, PyExc_IndexError})
    if (PyErr_ExceptionMatches(refusal)) {
      PyErr_Clear();
      return nullptr;
    }
  throw nb::python_error();
}

}  // namespace numbus::bindings
