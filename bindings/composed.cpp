// Functions composed in Python, called with new arrays on the device of their operands.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <set>

#include <structmember.h>

#include "array/capture.h"
#include "convert.h"
#include "errstate.h"
#include "float_errors.h"
#include "quick.h"
#include "registered.h"

namespace numbus::bindings {

namespace {

// Deeper than `library(function, ([a, b],), {})` no operand lies.
constexpr int kDepth = 4;

Device* find_device(PyObject* o, int depth) {
  if (is_array(o)) return as_masked(o).full.base->device;
  if (is_generic(o)) {
    const Base* b = as_generic(o).array.base.get();
    return b ? b->device : nullptr;
  }
  if (depth == 0) return nullptr;
  bool tuple = PyTuple_CheckExact(o);
  if (tuple || PyList_CheckExact(o)) {
    Py_ssize_t n = tuple ? PyTuple_Size(o) : PyList_Size(o);
    for (Py_ssize_t k = 0; k < n; ++k) {
      PyObject* item = tuple ? PyTuple_GetItem(o, k) : PyList_GetItem(o, k);
      // Whoever writes numbers or words into a list writes no arrays beside them.
      if (!tuple && (PyFloat_CheckExact(item) || PyLong_CheckExact(item) || PyBool_Check(item) ||
                     PyUnicode_Check(item)))
        return nullptr;
      if (Device* d = find_device(item, depth - 1)) return d;
    }
  } else if (PyDict_CheckExact(o)) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(o, &at, &key, &value))
      if (Device* d = find_device(value, depth - 1)) return d;
  }
  return nullptr;
}

struct Composed {
  PyObject_HEAD;
  vectorcallfunc call;
  PyObject* function;
  PyObject* foreign;     // what to call where an operand is one that only NumPy can hold, or null
  Signature* signature;  // of a registered function: how its arguments are made; or null
  Quick quick;           // answers plain calls without the function; or null
  bool views;            // which makes views at the most
  PyObject* few;         // NumPy's function, which answers calls of few elements; or null
  Few few_of;            // what that is
  int64_t few_most;      // elements of an operand
  PyObject*
      reduction;  // the one that the function is where it is given no more than an axis; or null
  bool tests;     // NumPy warns where the result is no number, whatever the flags say
  bool suspects;  // NumPy looks where few operands at rest are none that such functions expect
  bool tells;     // the operations of the body are those that NumPy's function warns of
  const char* told_as;  // what these warnings say that they were met in; null: each operation
  PyObject* attributes;
  PyObject* weak;
};

Composed& as_composed(PyObject* o) { return *reinterpret_cast<Composed*>(o); }

PyObject* foreign_dtype() {
  static PyObject* const kind =
      nb::object(nb::module_::import_("numbus.core.errors").attr("ForeignDtype")).release().ptr();
  return kind;
}

// With the arguments as the annotations say; null: an error of Python's is set.
PyObject* call_body(const Composed& c, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return guarded([&]() -> PyObject* {
    const Signature& s = *c.signature;
    Bound b;
    if (!bind(s, args, n, names, b))
      return PyObject_Vectorcall(s.others ? c.foreign : c.function, args, n, names);
    convert(s, b);
    return store(s, b, call_with(s, b, c.function));
  });
}

// The reduction of an array over all of it or one axis; null: the function itself has to look at
// the arguments.
PyObject* reduced_directly(const Composed& c, const Given& g) {
  PyObject* values[2] = {};
  if (g.positional < 1 || Py_TYPE(g.args[0]) != array_type || !g.bind({"", "axis"}, values, 2))
    return nullptr;
  Masked& a = as_masked(g.args[0]);
  const int ndim = a.ndim();
  if (a.mask || ndim == 0 || a.full.size() == 0 || is_complex(a.full.dtype)) return nullptr;
  uint64_t axes = all_axes(ndim);
  if (values[1] && values[1] != Py_None) {
    const std::optional<int> d = axis_of(values[1], ndim, 0);
    if (!d) return nullptr;
    axes = uint64_t{1} << *d;
  }
  Py_ssize_t length = 0;
  const char* name = PyUnicode_AsUTF8AndSize(c.reduction, &length);
  mark_line();
  return wrap_result(
      reduce({name, static_cast<size_t>(length)}, a.full, axes, false, {}, nullptr, 0));
}

// by_numpy: set where NumPy itself has answered, which gives its own warnings.
PyObject* call_unchecked(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names,
                         bool& by_numpy) {
  return guarded([&]() -> PyObject* {
    const Composed& c = as_composed(self);
    const Given given{args, PyVectorcall_NARGS(nargs), names};
    if (c.quick)
      if (PyObject* answer = c.quick(given)) return answer;
    if (c.few) {
      by_numpy = true;
      if (PyObject* answer = on_few(c.few, given, c.few_of, c.few_most)) return answer;
      by_numpy = false;
    }
    if (c.reduction)
      if (PyObject* answer = reduced_directly(c, given)) return answer;
    Py_ssize_t n = PyVectorcall_NARGS(nargs) + (names ? PyTuple_Size(names) : 0);
    Device* there = nullptr;
    for (Py_ssize_t k = 0; k < n && !there; ++k) there = find_device(args[k], kDepth);
    DeviceOfNew follow(there);
    PyObject* result = c.signature ? call_body(c, args, PyVectorcall_NARGS(nargs), names)
                                   : PyObject_Vectorcall(c.function, args, nargs, names);
    if (result || !c.foreign || !PyErr_ExceptionMatches(foreign_dtype())) return result;
    PyErr_Clear();
    by_numpy = true;
    return PyObject_Vectorcall(c.foreign, args, PyVectorcall_NARGS(nargs), names);
  });
}

// What core/float_errors.py wants to know of a call.
nb::tuple described(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(nargs);
  return nb::make_tuple(nb::handle(self), positional_of(args, n), keywords_of(args, n, names));
}

// The same after NumPy has looked for errors of floats.
PyObject* call_checked(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  bool by_numpy = false;
  PyObject* answer =
      guarded([&] { return check("by_function", described(self, args, nargs, names)); });
  if (!answer) return nullptr;
  Py_DECREF(answer);
  if (answer != Py_True) return call_unchecked(self, args, nargs, names, by_numpy);
  const ToldAlready inner;
  return call_unchecked(self, args, nargs, names, by_numpy);
}

// Whether the call is given a function, which is the program's own: what it computes is looked at
// as it comes.
bool calls_back(PyObject* const* args, size_t nargs, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(nargs) + (names ? PyTuple_Size(names) : 0);
  for (Py_ssize_t k = 0; k < n; ++k)
    if (!is_array(args[k]) && PyCallable_Check(args[k]) && !PyType_Check(args[k]) &&
        operands_of(args[k]) == 0)
      return true;
  return false;
}

// Of a scalar, or an array at rest that begins with one.
bool is_nan(PyObject* result) {
  if (PyFloat_Check(result)) return std::isnan(PyFloat_AsDouble(result));
  const Array* a = at_rest(result);
  if (!a || a->size() == 0 || !is_float(a->dtype)) return false;
  return std::isnan(load_scalar(a->dtype, a->base->data + a->offset).f[0]);
}

// Whether any of few elements at rest is infinite, no number, or so large that its square may be.
bool is_suspicious(PyObject* o) {
  constexpr int64_t kFew = 1024;
  const Array* a = at_rest(o);
  if (!a || a->size() == 0 || a->size() > kFew) return false;
  const DType t = a->dtype;
  const char* from = a->base->data + a->offset;
  const Layout& l = *a->layout;
  // Of dense ones the exponents alone are compared, which is done several at a time.
  auto beyond = [&]<class T>(T most) {
    const int64_t n = a->size() * (is_complex(t) ? 2 : 1);
    const char* at = from;
    T found[4] = {};
    auto look = [&](T& into) {
      T bits;
      std::memcpy(&bits, at, sizeof bits);
      into |= static_cast<T>(most - 1 - (bits & (~T{0} >> 1)));
      at += sizeof bits;
    };
    for (int64_t k = n / 4; k > 0; --k)
      for (T& into : found) look(into);
    for (int64_t k = n % 4; k > 0; --k) look(found[0]);
    const T any = found[0] | found[1] | found[2] | found[3];
    return (any >> (8 * sizeof(T) - 1)) != 0;
  };
  const bool wide = t == DType::F64 || t == DType::C128,
             narrow = t == DType::F32 || t == DType::C64;
  if (l.c_contiguous() && wide) return beyond(std::bit_cast<uint64_t>(0x1p500));
  if (l.c_contiguous() && narrow) return beyond(std::bit_cast<uint32_t>(0x1p60F));
  if (!is_inexact(t)) return false;
  const double most = wide ? 0x1p500 : narrow ? 0x1p60 : 0x1p6;
  int64_t index[kMaxDims] = {};
  for (int64_t left = a->size(); left > 0; --left) {
    const Scalar s = load_scalar(t, from);
    if (!(std::fabs(s.f[0]) < most) || (is_complex(t) && !(std::fabs(s.f[1]) < most))) return true;
    for (int d = l.ndim(); d-- > 0;) {
      from += l.stride(d);
      if (++index[d] < l.shape(d)) break;
      from -= l.stride(d) * l.shape(d);
      index[d] = 0;
    }
  }
  return false;
}

bool any_suspicious(PyObject* const* args, size_t nargs, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(nargs) + (names ? PyTuple_Size(names) : 0);
  return std::any_of(args, args + n, is_suspicious);
}

// What the body computes is no operation of the program's: the flags of all of it are, and NumPy's
// own function says what they mean.
PyObject* call(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  bool by_numpy = false;
  const Composed& c = as_composed(self);
  if (c.views) {
    PyObject* answer = guarded([&] { return c.quick({args, PyVectorcall_NARGS(nargs), names}); });
    if (answer || PyErr_Occurred()) return answer;
  }
  follow_errstate();
  if (float_errors::state.checked) [[unlikely]]
    return call_checked(self, args, nargs, names);
  if (c.few_of == Few::Method || c.few_of == Few::Draws)
    Capture::spoil("random numbers are drawn from a state of the host's");
  const bool warns = float_errors::state.warned != 0;
  // Inside of a body nothing is looked at.
  if ((!warns && !c.tests) || (warns && calls_back(args, nargs, names)))
    return call_unchecked(self, args, nargs, names, by_numpy);
  const Examined here(c.tells, true, c.told_as);
  PyObject* result = call_unchecked(self, args, nargs, names, by_numpy);
  if (!result || by_numpy) return result;
  if (!here.raised() && !(c.tests && is_nan(result)) &&
      !(c.suspects && any_suspicious(args, nargs, names)))
    return result;
  return warned(result, "warn_function", described(self, args, nargs, names));
}

// Only where a method is not called at once: calls pass the instance as the first argument.
PyObject* attribute(PyObject* self, const char* name) {
  PyObject* value = PyObject_GetAttrString(as_composed(self).function, name);
  if (!value) PyErr_Clear();
  return value;
}

PyObject* text(PyObject* self) {
  return guarded([&] {
    nb::object name = nb::steal(attribute(self, "__name__"));
    return nb::str("<function {}>").format(name).release().ptr();
  });
}

// Pickled by its name in its module.
PyObject* reduced(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__name__"); }

int traverse(PyObject* o, visitproc visit, void* arg) {
  Composed& c = as_composed(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(c.function);
  Py_VISIT(c.foreign);
  Py_VISIT(c.few);
  Py_VISIT(c.attributes);
  return 0;
}

int clear(PyObject* o) {
  Composed& c = as_composed(o);
  Py_CLEAR(c.function);
  Py_CLEAR(c.foreign);
  Py_CLEAR(c.few);
  Py_CLEAR(c.reduction);
  Py_CLEAR(c.attributes);
  return 0;
}

void destroy(PyObject* o) {
  PyObject_GC_UnTrack(o);
  if (as_composed(o).weak) PyObject_ClearWeakRefs(o);
  destroy_collected<clear>(o);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Composed, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Composed, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Composed, weak), READONLY, nullptr},
    {"__wrapped__", T_OBJECT, offsetof(Composed, function), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduced, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                       {Py_tp_repr, reinterpret_cast<void*>(text)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                       {Py_tp_members, members},
                       {Py_tp_getset, properties},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"numbus._core.composed", sizeof(Composed), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

}  // namespace

PyObject* bind_method(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return guarded([&] {
    static PyObject* const method =
        nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
    return nb::handle(method)(nb::handle(self), nb::handle(instance)).release().ptr();
  });
}

Device* device_of(PyObject* operand) { return find_device(operand, kDepth); }

namespace {

PyObject* composed_type = nullptr;

void copy_names(nb::handle o) {
  for (const char* name : {"__name__", "__qualname__", "__doc__", "__module__"})
    if (nb::object value = nb::steal(attribute(o.ptr(), name)); value.is_valid())
      PyObject_SetAttrString(o.ptr(), name, value.ptr());
}

// Has plain calls of a method be answered before its own body looks at the arguments.
void quicken(const char* name) {
  nb::handle array(reinterpret_cast<PyObject*>(array_type));
  nb::object o = nb::steal(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(composed_type), 0));
  if (!o.is_valid()) throw nb::python_error();
  Composed& c = as_composed(o.ptr());
  c.call = call;
  c.function = nb::object(array.attr(name)).release().ptr();
  c.quick = quick_named(name);
  c.views = only_views(c.quick);
  copy_names(o);
  array.attr(name) = o;
}

}  // namespace

void bind_composed(nb::module_& m) {
  composed_type = PyType_FromSpec(&spec);
  if (!composed_type) throw nb::python_error();
  for (const char* method : {"ravel", "reshape", "transpose"}) quicken(method);
  m.attr("Composed") = nb::handle(composed_type);
  m.def(
      "let_tell",
      [](nb::handle function, bool tests, nb::object name, bool suspects) {
        if (Py_TYPE(function.ptr()) != reinterpret_cast<PyTypeObject*>(composed_type)) return;
        Composed& c = as_composed(function.ptr());
        (tests ? c.tests : suspects ? c.suspects : c.tells) = true;
        static auto* names = new std::set<std::string>;
        if (!name.is_none()) c.told_as = names->insert(nb::cast<std::string>(name)).first->c_str();
      },
      nb::arg("function"), nb::arg("tests") = false, nb::arg("name") = nb::none(),
      nb::arg("suspects") = false,
      "Has the operations that a composed function records warn for themselves, or as those of a "
      "function of that name (of no letters: as NumPy's scalars, where there are no axes); tests: "
      "has NumPy look where its result is no number; suspects: where few operands at rest have "
      "elements that may overflow or are no finite numbers.");
  m.def("answer_few", answer_few, nb::arg("answer"),
        "Whether NumPy answers calls of few elements from now on; the former answer.");
  m.def(
      "composed",
      [](nb::object function, nb::object foreign, nb::object parameters, const std::string& name,
         int positional_only, int positional, int rest, bool others) {
        PyObject* o = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(composed_type), 0);
        if (!o) throw nb::python_error();
        Composed& c = as_composed(o);
        c.call = call;
        c.function = nb::object(function).release().ptr();
        c.signature = parameters.is_none()
                          ? nullptr
                          : Signature::from_python(name, nb::cast<nb::sequence>(parameters),
                                                   positional_only, positional, rest);
        c.foreign = foreign.is_none() ? nullptr : nb::object(foreign).release().ptr();
        if (c.signature && others && c.foreign) c.signature->others = true;
        if (nb::object quick = nb::steal(attribute(o, "quick")); quick.is_valid())
          c.views = only_views(c.quick = quick_named(nb::cast<std::string>(quick)));
        c.few = attribute(o, "few");
        if (nb::object most = nb::steal(attribute(o, "few_most")); most.is_valid())
          c.few_most = nb::cast<int64_t>(most);
        if (nb::object draws = nb::steal(attribute(o, "draws")); draws.is_valid())
          c.few_of = nb::cast<bool>(draws) ? Few::Method : Few::Draws;
        if (nb::object writes = nb::steal(attribute(o, "few_writes")); writes.is_valid())
          c.few_of = Few::Writes;
        if (nb::object makes = nb::steal(attribute(o, "few_makes")); makes.is_valid())
          c.few_of = Few::Makes;
        c.reduction = attribute(o, "reduction");
        c.tells = c.reduction != nullptr;
        if (c.foreign) foreign_dtype();  // imported now: a call that failed could not
        copy_names(o);
        return nb::steal(o);
      },
      nb::arg("function"), nb::arg("foreign").none() = nb::none(),
      nb::arg("parameters").none() = nb::none(), nb::arg("name") = "",
      nb::arg("positional_only") = 0, nb::arg("positional") = 0, nb::arg("rest") = -1,
      nb::arg("others") = false,
      "`function`, during whose calls new arrays are made on the device of its operands; "
      "`foreign` is called where it raises ForeignDtype; its attribute `reduction` names the one "
      "that "
      "it is where it is given no more than an axis, `few` the function of NumPy's that answers "
      "calls "
      "of few elements. "
      "parameters: how the arguments are converted first, (name, kind, has default, default, "
      "what None means, index of the array, choices) each, as functions/registry.py writes them, "
      "and `rest`, the kind of *arguments or -1; others: `foreign` takes keywords of any name; "
      "`name` is what messages call the function. Where `function.quick` is a name of "
      "bindings/quick.cpp, plain calls are answered there.");
}

}  // namespace numbus::bindings
