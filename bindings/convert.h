// Between Python objects and the core's values.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <forward_list>
#include <optional>
#include <vector>

#include "array/array.h"
#include "base/error.h"
#include "lazy/float_errors.h"

namespace nb = nanobind;

namespace numbus::bindings {

// What a Python `generic` holds: a known value, or a 0-d array still to be computed.
struct Generic {
  bool known = false;
  Scalar value;
  DType dtype = DType::F64;
  Array array;
};

extern PyTypeObject* array_type;
extern PyTypeObject* generic_type;

inline bool is_array(PyObject* o) { return Py_TYPE(o) == array_type; }
inline bool is_generic(PyObject* o) { return Py_TYPE(o) == generic_type; }
// What an array holds, for those who know masks (array/array.h).
inline Masked& as_masked(PyObject* o) { return *nb::inst_ptr<Masked>(o); }
inline Array& as_array(PyObject* o) { return as_masked(o).settled(); }
inline Generic& as_generic(PyObject* o) { return *nb::inst_ptr<Generic>(o); }

PyObject* wrap(Masked&& m);  // an ndarray
PyObject* wrap(Array&& a);
PyObject* wrap_view(PyObject* of,
                    Array&& a);  // an ndarray whose .base is `of`, or what `of` is a view of
PyObject* wrap_generic(Generic&& g);
PyObject* wrap_result(Masked&& m);  // a generic where the result is 0-d
Scalar value_of(Generic& g);
const Array& array_of(Generic& g);

DType to_dtype(PyObject* o);  // raises TypeError for types Numbus lacks
std::optional<DType> find_dtype(
    PyObject* o);                   // nothing for those; raises only for what is no type at all
bool has_format(PyObject* buffer);  // whether its elements are of a type Numbus has
PyObject* dtype_object(DType t);    // borrowed
PyObject* python_number(const Scalar& s);

// An operand from any Python object; `hold` keeps arrays made on the way alive.
struct Operands {
  std::forward_list<Array> hold;        // whose elements stay where they are
  bool convert(PyObject* o, Arg& out);  // false: not a number or array
  Array& keep(Array&& a) {
    hold.push_front(std::move(a));
    return hold.front();
  }
};
// What is stored as one element must be a value that the type has, be it Python's number or a
// scalar of NumPy's or ours; arrays, 0-d ones too, are cast. `a` is what convert() made of `o`.
void require_number(PyObject* o, Arg& a, DType to, const char* op);
Array to_array(PyObject* o);  // ndarray, generic, number or anything NumPy takes
// The value number of elements that no code outside can change, which are the same as long as this
// is; 0 where other code can.
uint64_t own_value(const Array& a);
Array import_numpy(PyObject* o, bool copy, bool shared, Device* device = nullptr);

// Who has to do an operation on this operand: Numbus, NumPy (subclasses of its arrays, objects with
// an
// __array_ufunc__ of their own), or the operand itself (__array_ufunc__ = None).
enum class Owner { Numbus, NumPy, Operand };
Owner owner_of(PyObject* o);
// NumPy's array types that have no behaviour of their own.
std::vector<PyObject*>& plain_array_types();
bool is_numpy_scalar(PyObject* o);
// numbus.core.fallback.<name>(…): lets NumPy do it. Returns a new reference.
PyObject* fall_back(const char* name, nb::object args);

// The device of the first array found in an operand, looked for in sequences too; null: none.
Device* device_of(PyObject* operand);
// The same for the operands of an operator, of which one at least is ours.
inline Device* device_of(PyObject* x, PyObject* y) {
  if (is_array(x)) return as_masked(x).full.base->device;
  if (y && is_array(y)) return as_masked(y).full.base->device;
  Device* d = device_of(x);
  return d || !y ? d : device_of(y);
}

// On the CPU, from plain Python numbers in even lists and tuples; nothing where there is more to
// it.
std::optional<Array> from_list(PyObject* o, std::optional<DType> dtype);
std::vector<int64_t> to_shape(PyObject* o);
Casting to_casting(PyObject* o);
// NumPy's orders 'C', 'F', 'A' and 'K', of which lower case means the same; None: `otherwise`.
// Raises ValueError or TypeError for anything else.
char to_order(PyObject* o, std::string_view op, char otherwise = 'C');
bool has_order(const Array& a, char order);  // whether the memory is laid out so already
Array copy_in_order(const Array& a, DType to, char order);
Array on_its_own(Array view);  // of something that nobody else has

SourceLine describe_line(uint64_t line);
uint64_t line_of_caller();   // a token for where the Python program is
bool called_from_package();  // whether code of this package, not of the program, makes the call
// The call that begins comes from another line, which is looked up where something is recorded.
inline void mark_line() { line_is_new = true; }
void set_error(const Error& e);
// Has the error that is set be one that programs for PyTorch catch (tensor_functions.cpp).
void retype_error();

// Gives the warnings that flushes have found reason for. `result`, or null where one is an error.
[[gnu::cold, gnu::noinline]] PyObject* tell_findings(PyObject* result);

// Runs f, turning core errors into Python ones; for C slots. Afterwards no work of the core is
// under way in this thread, so that warnings may run Python.
template <class F>
PyObject* guarded(F&& f) {
  try {
    PyObject* result = f();
    return float_errors::any_found && result ? tell_findings(result) : result;
  } catch (const Error& e) {
    set_error(e);
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

// For Py_tp_dealloc of types that the garbage collector sees.
template <int (*clear)(PyObject*)>
void destroy_collected(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  clear(o);
  PyObject_GC_Del(o);
  Py_DECREF(type);
}

void bind_arrays(nb::module_& m);
void bind_ufuncs(nb::module_& m);
Op row_of(PyObject* ufunc);
// How many operands a ufunc of ours takes; 0: it is none.
int operands_of(PyObject* ufunc);
// A ufunc of ours without keywords but for `out`, which may be null.
PyObject* call_ufunc(PyObject* ufunc, PyObject* const* operands, PyObject* out);
void bind_protocols(nb::module_& m);
void bind_composed(nb::module_& m);
void bind_float_errors(nb::module_& m);
// The __get__ of a callable that is a method of classes.
PyObject* bind_method(PyObject* self, PyObject* instance, PyObject* type);
void bind_gradients(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_formulas(nb::module_& m);
void bind_module_attributes(nb::module_& m);
void bind_recipes(nb::module_& m);
void bind_steps(nb::module_& m);
void bind_backward(nb::module_& m);
void bind_tape(nb::module_& m);
void bind_convolution(nb::module_& m);
void bind_tensors(nb::module_& m);
void bind_tensor_functions(nb::module_& m);
// The arguments of a vectorcall as a tuple, and its keywords, of which it may have none, as a dict.
nb::tuple positional_of(PyObject* const* args, Py_ssize_t n);
nb::dict keywords_of(PyObject* const* args, Py_ssize_t n, PyObject* names);
void bind_sorting(nb::module_& m);
void bind_indexing(nb::module_& m);
void bind_devices(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_vendor(nb::module_& m);
void bind_fft_loops(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_flat(nb::module_& m);
void bind_frontend(nb::module_& m);
void bind_caught();
void bind_object_mode();
void bind_c_entries(nb::module_& m);
void bind_containers(nb::module_& m);
void bind_generators(nb::module_& m);
void bind_callbacks(nb::module_& m);
void bind_loop_lists(nb::module_& m);
// The core asks Python about signals from the first call on.
void set_interrupt_hooks();
void bind_kernels(nb::module_& m);
void bind_nccl(nb::module_& m);
void bind_raw_kernels(nb::module_& m);
void bind_routines(nb::module_& m);
void bind_solver(nb::module_& m);
void bind_streams(nb::module_& m);
std::optional<DType> from_format(const char* format, Py_ssize_t size);
extern PyType_Slot array_slots[];
extern PyGetSetDef array_properties[];
extern PyType_Slot generic_slots[];
Scalar number_value(PyObject* o);  // of an array of one element, or a generic
PyObject* get_item(PyObject* self, PyObject* index);
PyObject* get_element(PyObject* self, Py_ssize_t index);
int set_item(PyObject* self, PyObject* index, PyObject* value);
// That a complex number of NumPy's is stored into real elements, of which NumPy warns.
void warn_of_complex(PyObject* number, DType to);
PyObject* binary(Op op, PyObject* a, PyObject* b);
// told_as: what warnings say that they were met in; null: the operation.
PyObject* unary(Op op, PyObject* a, const char* told_as = nullptr);
int get_buffer(PyObject* self, Py_buffer* view, int flags);
// Raises the warning for which the last request for a buffer of this array was refused:
// numpy.asarray drops it and asks for `__array__`.
void raise_dropped(const PyObject* o);
// As PyObject_GetBuffer, also of bfloat16 with "E", which is ml_dtypes's letter: the protocol has
// no format for it, so that arrays of it are asked as integers.
int get_typed_buffer(PyObject* o, Py_buffer* view, int flags);
int traverse_array(PyObject* self, visitproc visit, void* arg);
int clear_array(PyObject* self);
void release_buffer(PyObject* self, Py_buffer* view);

// Runs what lets go of Python objects, from any thread: with the lock, and without a word to an
// exception that is on its way. Where the interpreter is gone, so are its objects.
template <class F>
void let_go(F&& body) noexcept {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  {
    nb::error_scope pending;
    body();
    if (PyErr_Occurred()) PyErr_WriteUnraisable(nullptr);
  }
  PyGILState_Release(state);
}

}  // namespace numbus::bindings

// A parameter `Array&` of a bound function is a Python array that is settled by the conversion, one
// `Masked&` is what it holds.
template <>
struct nanobind::detail::type_caster<numbus::Array> : nanobind::detail::type_caster_base_tag {
  using Type = numbus::Array;
  using Held = type_caster_base<numbus::Masked>;
  static constexpr auto Name = Held::Name;  // NOLINT(readability-identifier-naming): nanobind's
  template <typename T>
  using Cast = precise_cast_t<T>;

  bool from_python(handle src, uint8_t flags, cleanup_list* cleanup) noexcept {
    return held_.from_python(src, flags, cleanup);
  }
  template <typename T>
  bool can_cast() const noexcept {
    return held_.can_cast<numbus::Masked&>();
  }
  operator numbus::Array&() { return held_.operator numbus::Masked&().settled(); }

 private:
  Held held_;
};
