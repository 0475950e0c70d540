// The protocols by which NumPy's ufuncs and functions reach Numbus: __array_ufunc__ and
// __array_function__.
#include <unordered_map>

#include "convert.h"

namespace numbus::bindings {

namespace {

// What `attach_protocols` was given; all of it lives as long as the process.
std::unordered_map<PyObject*, PyObject*> rows;       // NumPy's ufunc -> ours, or a function of ours
std::unordered_map<PyObject*, PyObject*> functions;  // NumPy's function -> what answers for it
PyObject* others = nullptr;         // (ufunc, method, inputs, keywords): all but calls of `rows`
PyObject* find_function = nullptr;  // makes entries of `functions`
PyObject* base_array = nullptr;     // numpy.ndarray
PyObject* call_name = nullptr;      // "__call__"
PyObject* out_name = nullptr;       // "out"

bool is_text(PyObject* o, PyObject* text) {
  return o == text || (PyUnicode_Check(o) && PyUnicode_Compare(o, text) == 0);
}

nb::object tuple_of(PyObject* const* items, Py_ssize_t n) {
  nb::object t = nb::steal(PyTuple_New(n));
  if (!t.is_valid()) throw nb::python_error();
  for (Py_ssize_t k = 0; k < n; ++k) {
    Py_INCREF(items[k]);
    PyTuple_SetItem(t.ptr(), k, items[k]);
  }
  return t;
}

// NumPy gives `out` as a tuple; where that has one element our functions take the array itself.
PyObject* only_out(PyObject* out) {
  return PyTuple_Check(out) && PyTuple_Size(out) == 1 ? PyTuple_GetItem(out, 0) : out;
}

// (self, ufunc, method, *inputs, **keywords)
PyObject* array_ufunc(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (n < 2)
      raise(ErrorKind::Type, "__array_ufunc__", "too few arguments", std::to_string(n),
            "a ufunc, the name of a method, operands");
    PyObject *ufunc = args[0], *method = args[1];
    PyObject* const* inputs = args + 2;
    const Py_ssize_t count = n - 2, keywords = names ? PyTuple_Size(names) : 0;
    PyObject* ours = nullptr;
    if (is_text(method, call_name))
      if (auto row = rows.find(ufunc); row != rows.end()) ours = row->second;
    PyObject* out = nullptr;
    if (keywords == 1 && is_text(PyTuple_GetItem(names, 0), out_name)) out = only_out(args[n]);
    if (ours && (keywords == 0 || out) && operands_of(ours) == count && count > 0)
      return call_ufunc(ours, inputs, out);
    nb::object positional = tuple_of(inputs, count), named = nb::steal(PyDict_New());
    for (Py_ssize_t k = 0; k < keywords; ++k) {
      PyObject *name = PyTuple_GetItem(names, k), *value = args[n + k];
      if (is_text(name, out_name)) value = only_out(value);
      if (PyDict_SetItem(named.ptr(), name, value) != 0) throw nb::python_error();
    }
    if (ours) return PyObject_Call(ours, positional.ptr(), named.ptr());
    PyObject* const all[] = {ufunc, method, positional.ptr(), named.ptr()};
    return PyObject_Vectorcall(others, all, 4, nullptr);
  });
}

// Array types of other libraries have to answer themselves.
bool answers(PyObject* types) {
  nb::object all = nb::steal(PySequence_Tuple(types));
  if (!all.is_valid()) throw nb::python_error();
  for (nb::handle type : nb::borrow<nb::tuple>(all)) {
    auto* t = reinterpret_cast<PyTypeObject*>(type.ptr());
    if (t == array_type || t == generic_type || type.ptr() == base_array) continue;
    if (!PyType_Check(type.ptr()) ||
        !PyType_IsSubtype(t, reinterpret_cast<PyTypeObject*>(base_array)))
      return false;
  }
  return true;
}

// (self, function, types, args, keywords)
PyObject* array_function(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    if (n != 4)
      raise(ErrorKind::Type, "__array_function__", "wrong number of arguments", std::to_string(n),
            "a function, types, arguments, keywords");
    if (!answers(args[1])) Py_RETURN_NOTIMPLEMENTED;
    auto known = functions.find(args[0]);
    if (known == functions.end()) {
      PyObject* made = nb::handle(find_function)(nb::handle(args[0])).release().ptr();
      Py_INCREF(args[0]);
      known = functions.emplace(args[0], made).first;
    }
    nb::object positional = nb::steal(PySequence_Tuple(args[2]));
    if (!positional.is_valid()) throw nb::python_error();
    return PyObject_Call(known->second, positional.ptr(), args[3]);
  });
}

// A method's table takes functions of any signature as this one.
template <class F>
PyCFunction as_method(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

PyMethodDef ufunc_method = {"__array_ufunc__", as_method(array_ufunc),
                            METH_FASTCALL | METH_KEYWORDS,
                            "__array_ufunc__($self, ufunc, method, /, *inputs, **kwargs)\n--\n\n"
                            "NumPy's ufuncs called with Numbus arrays: the row of that name, else "
                            "NumPy's on views."};
PyMethodDef function_method = {"__array_function__", as_method(array_function), METH_FASTCALL,
                               "__array_function__($self, function, types, args, kwargs, /)\n--\n\n"
                               "NumPy's functions called with Numbus arrays: ours where there is "
                               "one, else NumPy's on views; NotImplemented where an array type of "
                               "another library is among the operands."};

}  // namespace

void bind_protocols(nb::module_& m) {
  call_name = PyUnicode_InternFromString("__call__");
  out_name = PyUnicode_InternFromString("out");
  base_array = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  m.def(
      "attach_protocols",
      [](nb::dict table, nb::object rest, nb::object function) {
        for (auto [ufunc, ours] : table)
          rows[nb::object(nb::borrow(ufunc)).release().ptr()] =
              nb::object(nb::borrow(ours)).release().ptr();
        others = nb::object(rest).release().ptr();
        find_function = nb::object(function).release().ptr();
        for (PyTypeObject* type : {array_type, generic_type})
          for (PyMethodDef* method : {&ufunc_method, &function_method}) {
            nb::object d = nb::steal(PyDescr_NewMethod(type, method));
            if (!d.is_valid() || PyObject_SetAttrString(reinterpret_cast<PyObject*>(type),
                                                        method->ml_name, d.ptr()) != 0)
              throw nb::python_error();
          }
      },
      nb::arg("rows"), nb::arg("others"), nb::arg("function"),
      "Gives ndarray and generic __array_ufunc__ and __array_function__. rows: NumPy's ufuncs and "
      "what computes them; others(ufunc, method, inputs, keywords): other ufuncs and methods; "
      "function(f): what answers for NumPy's function f.");
}

}  // namespace numbus::bindings
