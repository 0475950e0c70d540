// The code of functions whose loops were rewritten, and that of their source, which is what the
// program sees. Included by loops.cpp alone.
#pragma once

#include <Python.h>

#include <cstring>
#include <unordered_map>

namespace numbus::bindings {
namespace {

// By the rewritten code: that of the source.
auto& plain_codes() {
  static auto* codes = new std::unordered_map<PyObject*, PyObject*>;
  return *codes;
}
getter code_of = nullptr;
setter set_code = nullptr;
void* closure_of_code = nullptr;

// Of a function's `__code__`: whoever looks at it finds the code of the source, and from then on
// that is what runs, so that what is seen, copied, sent elsewhere or traced is one and the same.
PyObject* read_code(PyObject* function, void* closure) {
  PyObject* code = code_of(function, closure);
  if (!code || plain_codes().empty()) return code;
  auto it = plain_codes().find(code);
  if (it == plain_codes().end()) return code;
  Py_DECREF(code);
  if (set_code(function, it->second, closure) < 0) return nullptr;
  return Py_NewRef(it->second);
}

// The object in a class that reads an attribute by functions of C, as CPython lays it out.
struct GetSetDescriptor {
  PyObject_HEAD PyTypeObject* type;
  PyObject *name, *qualname;
  PyGetSetDef* functions;
};

// Has read_code() answer for the attribute; False where it is not laid out as expected.
PyObject* watch_code(PyObject*, PyObject*) {
  if (code_of) Py_RETURN_TRUE;
  PyObject* types = PyImport_ImportModule("types");
  PyObject* function = types ? PyObject_GetAttrString(types, "FunctionType") : nullptr;
  PyObject* kind = types ? PyObject_GetAttrString(types, "GetSetDescriptorType") : nullptr;
  PyObject* names = function ? PyObject_GetAttrString(function, "__dict__") : nullptr;
  PyObject* name = PyUnicode_FromString("__code__");
  PyObject* descriptor = names && name ? PyObject_GetItem(names, name) : nullptr;
  Py_XDECREF(types);
  Py_XDECREF(names);
  Py_XDECREF(name);
  if (!descriptor || !kind) return nullptr;  // all of which are kept for good
  if (reinterpret_cast<PyObject*>(Py_TYPE(descriptor)) != kind) Py_RETURN_FALSE;
  auto& d = *reinterpret_cast<GetSetDescriptor*>(descriptor);
  if (reinterpret_cast<PyObject*>(d.type) != function || !d.functions ||
      std::strcmp(d.functions->name, "__code__") != 0 || !d.functions->get || !d.functions->set)
    Py_RETURN_FALSE;
  static PyGetSetDef ours;
  ours = *d.functions;
  code_of = ours.get;
  set_code = ours.set;
  closure_of_code = ours.closure;
  ours.get = read_code;
  d.functions = &ours;
  Py_RETURN_TRUE;
}

// The code that a function runs, which reading its `__code__` would change.
PyObject* running_code_of(PyObject* function) {
  if (!code_of) return PyObject_GetAttrString(function, "__code__");
  return code_of(function, closure_of_code);
}

PyObject* running_code(PyObject*, PyObject* function) { return running_code_of(function); }

PyObject* remember_code(PyObject*, PyObject* args) {
  PyObject *rewritten, *plain;
  if (!PyArg_ParseTuple(args, "OO", &rewritten, &plain)) return nullptr;
  plain_codes()[Py_NewRef(rewritten)] = Py_NewRef(plain);
  Py_RETURN_NONE;
}

}  // namespace
}  // namespace numbus::bindings
