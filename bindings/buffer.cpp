// The buffer protocol: NumPy, memoryview and others see an array's memory, or a copy of it where
// that is on a GPU.
#include "array/placement.h"
#include "convert.h"
#include "numpy_objects.h"

namespace numbus::bindings {

namespace {

struct Export {
  Handle base;
  std::unique_ptr<Py_ssize_t[]> dims;
  std::unique_ptr<std::shared_ptr<char>> memory;
  bool shares;  // the memory itself, not a copy
};

}  // namespace

// numpy.asarray ignores the error of pending work and asks again by __array__, when the work is no
// longer pending: it gets the error then.
static std::shared_ptr<char> memory_of(const Array& a) {
  static const Base* failed = nullptr;
  static std::shared_ptr<const Error> error;
  if (std::exchange(failed, nullptr) == a.base.get()) throw Error(*error);
  try {
    if (placement::on && a.writeable) placement::is_exported(a);
    return host_view(a, "exported as a buffer");
  } catch (const Error& e) {
    failed = a.base.get();
    error = std::make_shared<Error>(e);
    throw;
  }
}

// The same of a warning that is an error: it has been given, so that `__array__` raises it again.
static const PyObject* warned_of = nullptr;
static PyObject* dropped = nullptr;

static void forget_dropped() {
  warned_of = nullptr;
  Py_CLEAR(dropped);
}

static void tell_of(const PyObject* o) {
  if (tell_findings(Py_None)) return;
  nb::python_error error;
  warned_of = o;
  dropped = Py_NewRef(error.value().ptr());
  throw error;
}

void raise_dropped(const PyObject* o) {
  if (!dropped || warned_of != o) return forget_dropped();
  PyObject* error = std::exchange(dropped, nullptr);
  forget_dropped();
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  Py_DECREF(error);
  throw nb::python_error();
}

// A number's value in the host's memory, which nobody else has.
static Array copied_number(const Array& a) {
  const Scalar value = read_element(a, 0);
  Array fresh = empty({}, a.dtype, &cpu_device());
  fresh.base->ensure_data();
  store_scalar(value, a.dtype, fresh.base->data);
  return fresh;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  forget_dropped();
  PyObject* ok = guarded([&]() -> PyObject* {
    // Before anything is computed, whose warnings NumPy would drop with the error.
    if ((is_array(self) ? as_masked(self).full.dtype : as_generic(self).dtype) == DType::BF16) {
      // NumPy's arrays of it refuse as well; __array__ serves.
      PyErr_SetString(PyExc_BufferError,
                      "[buffer] bfloat16 has no format of the buffer protocol; got bfloat16; "
                      "expected another dtype, or numpy.asarray(x)");
      return nullptr;
    }
    // Of a number a copy is exported, which may be written to as NumPy's array of a number may.
    Array number;
    if (is_generic(self)) number = copied_number(array_of(as_generic(self)));
    const Array& a = is_array(self) ? as_array(self) : number;
    if ((flags & PyBUF_WRITABLE) && !a.writeable) {
      PyErr_SetString(PyExc_BufferError,
                      "[buffer] array is read-only; got a request for a writable buffer; expected "
                      "a read-only one");
      return nullptr;
    }
    auto wants = [&](int what) { return (flags & what) == what; };
    // Whoever asks so keeps the address and gives the buffer back: numpy.ndarray(shape, dtype,
    // buffer) does. A copy would be gone by then.
    const bool keeps_address = wants(PyBUF_ANY_CONTIGUOUS) && !wants(PyBUF_FORMAT);
    if (keeps_address && is_array(self) && !a.base->device->host_readable()) {
      PyErr_SetString(PyExc_BufferError,
                      "[buffer] NumPy cannot keep the address of an array on a GPU; got a request "
                      "to do so; expected a copy (numpy.asarray(x))");
      return nullptr;
    }
    bool c = a.layout->c_contiguous(), f = a.layout->f_contiguous();
    if ((!c && (!wants(PyBUF_STRIDES) || wants(PyBUF_C_CONTIGUOUS))) ||
        (!f && wants(PyBUF_F_CONTIGUOUS)) || (!c && !f && wants(PyBUF_ANY_CONTIGUOUS))) {
      PyErr_SetString(PyExc_BufferError,
                      "[buffer] array is not contiguous; got a request for contiguous memory; "
                      "expected a copy() of the array");
      return nullptr;
    }
    if (a.writeable) before_write(a);  // whoever gets the memory may write it
    std::shared_ptr<char> host = memory_of(a);
    if (float_errors::any_found) tell_of(self);
    const bool on_host = a.base->device->host_readable();
    int n = a.ndim();
    auto* dims = new Py_ssize_t[2 * n + 1];
    for (int d = 0; d < n; ++d) {
      dims[d] = a.layout->shape(d);
      dims[n + d] = a.layout->stride(d);
    }
    static const char* const kFormats[kNumDTypes] = {"?", "b", "h", "i", "l", "B",  "H", "I",
                                                     "L", "e", "",  "f", "d", "Zf", "Zd"};
    auto* memory = new std::shared_ptr<char>(std::move(host));
    view->buf = memory->get();
    view->obj = self;
    Py_INCREF(self);
    view->len = a.size() * itemsize(a.dtype);
    view->itemsize = itemsize(a.dtype);
    view->readonly = !a.writeable || (!on_host && is_array(self));
    view->ndim = n;
    view->format =
        (flags & PyBUF_FORMAT) ? const_cast<char*>(kFormats[static_cast<int>(a.dtype)]) : nullptr;
    view->shape = wants(PyBUF_ND) ? dims : nullptr;
    view->strides = wants(PyBUF_STRIDES) ? dims + n : nullptr;
    view->suboffsets = nullptr;
    // The base stays shared, and alive, until the last export ends. Whoever asks for memory without
    // a format, to write to it, may keep the address: numpy.ndarray(shape, dtype, buffer) does, and
    // holds the array alone. That base stays shared for good.
    if (on_host) ++a.base.get()->shared;
    if (on_host && !wants(PyBUF_FORMAT) && ((flags & PyBUF_WRITABLE) || !a.writeable))
      ++a.base.get()->shared;
    view->internal = new Export{a.base, std::unique_ptr<Py_ssize_t[]>(dims),
                                std::unique_ptr<std::shared_ptr<char>>(memory), on_host};
    return Py_None;
  });
  return ok ? 0 : -1;
}

int get_typed_buffer(PyObject* o, Py_buffer* view, int flags) {
  nb::object words;
  if (is_array(o) && as_masked(o).full.dtype == DType::BF16) {
    const PyObject* made = guarded([&]() -> PyObject* {
      Array a = as_array(o);
      a.dtype = DType::U16;
      words = nb::steal(wrap(std::move(a)));
      return Py_None;
    });
    if (!made) return -1;
  } else if (PyObject_GetBuffer(o, view, flags) == 0) {
    return 0;
  } else {
    const auto memory = numpy_memory(o);
    if (!memory || memory->dtype != DType::BF16) return -1;
    PyErr_Clear();
    words = nb::steal(PyObject_CallMethod(o, "view", "s", "uint16"));
    if (!words.is_valid()) return -1;
  }
  if (PyObject_GetBuffer(words.ptr(), view, flags) != 0) return -1;
  static char letter[] = "E";
  if (flags & PyBUF_FORMAT) view->format = letter;
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) {
  auto* e = static_cast<Export*>(view->internal);
  if (e->shares) --e->base->shared, e->base->changed();
  delete e;
}

}  // namespace numbus::bindings
