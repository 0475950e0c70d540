// Parameters, buffers and modules as attributes of a module, found without Python's `__getattr__`.
#include "convert.h"

namespace numbus::bindings {
namespace {

struct AttributeObject {
  PyObject_HEAD;
  PyObject* name;
};

AttributeObject& as_attribute(PyObject* o) { return *reinterpret_cast<AttributeObject*>(o); }

// What a module's table of that kind has under the name: borrowed; null: nothing, or an error.
PyObject* in_table(PyObject* fields, PyObject* kind, PyObject* name) {
  PyObject* const table = PyDict_GetItemWithError(fields, kind);
  return table && PyDict_Check(table) ? PyDict_GetItemWithError(table, name) : nullptr;
}

// An AttributeError has Python ask `__getattr__`, which has the words for it.
PyObject* get(PyObject* self, PyObject* module, PyObject* /*type*/) {
  static PyObject* const kinds[] = {PyUnicode_InternFromString("_parameters"),
                                    PyUnicode_InternFromString("_modules"),
                                    PyUnicode_InternFromString("_buffers")};
  PyObject* const name = as_attribute(self).name;
  if (module) {
    PyObject* const fields = PyObject_GenericGetDict(module, nullptr);
    if (!fields) return nullptr;
    PyObject* found = nullptr;
    for (PyObject* const kind : kinds) {
      found = Py_XNewRef(in_table(fields, kind, name));
      if (found || PyErr_Occurred()) break;
    }
    Py_DECREF(fields);
    if (found || PyErr_Occurred()) return found;
  }
  PyErr_SetObject(PyExc_AttributeError, name);
  return nullptr;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* /*names*/) {
  PyObject* name = nullptr;
  if (!PyArg_ParseTuple(args, "U", &name)) return nullptr;
  PyObject* const made = PyType_GenericAlloc(type, 0);
  if (!made) return nullptr;
  Py_INCREF(name);
  PyUnicode_InternInPlace(&name);
  as_attribute(made).name = name;
  return made;
}

void destroy(PyObject* o) {
  PyTypeObject* const type = Py_TYPE(o);
  Py_XDECREF(as_attribute(o).name);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(o);
  Py_DECREF(type);
}

PyObject* reduce(PyObject* self, PyObject* /*none*/) {
  return Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(Py_TYPE(self)), as_attribute(self).name);
}

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_descr_get, reinterpret_cast<void*>(get)},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>("A parameter, buffer or module of a module's own, by its name: "
                                  "an attribute of the module's class.")},
    {0, nullptr}};
PyType_Spec spec = {"numbus._core.ModuleAttribute", sizeof(AttributeObject), 0, Py_TPFLAGS_DEFAULT,
                    slots};

}  // namespace

void bind_module_attributes(nb::module_& m) {
  nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.is_valid()) throw nb::python_error();
  m.attr("ModuleAttribute") = type;
}

}  // namespace numbus::bindings
