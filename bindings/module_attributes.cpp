// Parameters, buffers and modules as attributes of a module, found without Python's `__getattr__`.
#include "convert.h"

namespace numbus::bindings {
namespace {

// An attribute of the class `owner`, some of whose modules have a parameter, buffer or module of
// that name. For a module that has none, the classes after the owner are searched, as if the
// attribute were not there.
struct AttributeObject {
  PyObject_HEAD;
  PyObject* name;
  PyObject* owner;  // told by its address alone: the class holds the attribute
};

AttributeObject& as_attribute(PyObject* o) { return *reinterpret_cast<AttributeObject*>(o); }

// Module's own `__getattr__`: classes with another one look for attributes their way.
PyObject* own_getattr = nullptr;

PyObject* text(const char* s) { return PyUnicode_InternFromString(s); }

// What a module's table of that kind has under the name: borrowed; null: nothing, or an error.
PyObject* in_table(PyObject* fields, PyObject* kind, PyObject* name) {
  PyObject* const table = PyDict_GetItemWithError(fields, kind);
  return table && PyDict_Check(table) ? PyDict_GetItemWithError(table, name) : nullptr;
}

bool has_own_getattr(PyObject* type) {
  static PyObject* const name = text("__getattr__");
  const nb::object found = nb::steal(PyObject_GetAttr(type, name));
  if (!found.is_valid()) PyErr_Clear();
  return found.ptr() == own_getattr;
}

// Of the module's tables: a new reference; null: nothing, or an error.
PyObject* in_tables(PyObject* module, PyObject* name) {
  static PyObject* const kinds[] = {text("_parameters"), text("_modules"), text("_buffers")};
  const nb::object fields = nb::steal(PyObject_GenericGetDict(module, nullptr));
  if (!fields.is_valid()) return nullptr;
  for (PyObject* const kind : kinds) {
    PyObject* const found = in_table(fields.ptr(), kind, name);
    if (found) return Py_NewRef(found);
    if (PyErr_Occurred()) return nullptr;
  }
  return nullptr;
}

// What the classes after the owner have under the name; null with an error: none has it.
PyObject* in_later_classes(const AttributeObject& a, PyObject* module, PyObject* type) {
  static PyObject* const mro = text("__mro__");
  static PyObject* const own = text("__dict__");
  const nb::object classes = nb::steal(PyObject_GetAttr(type, mro));
  if (!classes.is_valid()) return nullptr;
  bool later = false;
  for (Py_ssize_t k = 0; k < PyTuple_Size(classes.ptr()); ++k) {
    PyObject* const c = PyTuple_GetItem(classes.ptr(), k);
    if (!later) {
      later = c == a.owner;
      continue;
    }
    const nb::object names = nb::steal(PyObject_GetAttr(c, own));
    if (!names.is_valid()) return nullptr;
    nb::object found = nb::steal(PyObject_GetItem(names.ptr(), a.name));
    if (!found.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_KeyError)) return nullptr;
      PyErr_Clear();
      continue;
    }
    const auto bind =
        reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(found.ptr()), Py_tp_descr_get));
    return bind ? bind(found.ptr(), module, type) : found.release().ptr();
  }
  PyErr_SetObject(PyExc_AttributeError, a.name);
  return nullptr;
}

// An AttributeError has Python ask `__getattr__`, which has the words for it.
PyObject* get(PyObject* self, PyObject* module, PyObject* type) {
  const AttributeObject& a = as_attribute(self);
  if (!type) type = reinterpret_cast<PyObject*>(Py_TYPE(module));
  if (module && has_own_getattr(type)) {
    PyObject* const found = in_tables(module, a.name);
    if (found || PyErr_Occurred()) return found;
  }
  return in_later_classes(a, module, type);
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* /*names*/) {
  PyObject *name = nullptr, *owner = nullptr;
  if (!PyArg_ParseTuple(args, "UO", &name, &owner)) return nullptr;
  PyObject* const made = PyType_GenericAlloc(type, 0);
  if (!made) return nullptr;
  Py_INCREF(name);
  PyUnicode_InternInPlace(&name);
  as_attribute(made).name = name;
  as_attribute(made).owner = owner;
  return made;
}

void destroy(PyObject* o) {
  PyTypeObject* const type = Py_TYPE(o);
  Py_XDECREF(as_attribute(o).name);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(o);
  Py_DECREF(type);
}

PyObject* reduce(PyObject* self, PyObject* /*none*/) {
  // The class may be gone by then, and the copy is of another one.
  return Py_BuildValue("O(OO)", reinterpret_cast<PyObject*>(Py_TYPE(self)), as_attribute(self).name,
                       Py_None);
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
  m.def(
      "set_module_getattr", [](nb::handle function) { own_getattr = function.inc_ref().ptr(); },
      nb::arg("function"));
}

}  // namespace numbus::bindings
